"""The HTTP side: paths, bodies, guards, metrics."""
