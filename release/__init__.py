"""What shows that a release can be installed and used without the repository."""
