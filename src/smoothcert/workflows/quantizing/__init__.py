"""From a network in float32 to one in int8 or bfloat16."""
