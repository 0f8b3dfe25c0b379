"""Documents, and what draws their pictures."""
