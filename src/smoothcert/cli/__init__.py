"""The command line: a person -> calls to the rows above; no logic of its own."""
