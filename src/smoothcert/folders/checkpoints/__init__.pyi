from .family import FAMILIES, Family
from .importing import import_checkpoint
from .layout import LAYOUTS, Layout

__all__ = ["FAMILIES", "LAYOUTS", "Family", "Layout", "import_checkpoint"]
