"""A training of the user's own module on the user's own images: what is checked before it, and what is recorded."""
