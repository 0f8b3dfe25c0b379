"""One self-contained page about some runs."""
