"""Tables for a terminal; every figure rounded in the safe direction."""
