"""Ways to attack by name: every file here is one, and its name is the file's."""
