"""How a cluster of any size would do: the real schedule and procedures, on workers and a clock that are made up."""
