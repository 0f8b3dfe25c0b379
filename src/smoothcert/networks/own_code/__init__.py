"""What code of a user's own is: what it refers to, and a fingerprint of it."""
