"""Two runs about the same images: what may be concluded of their difference."""
