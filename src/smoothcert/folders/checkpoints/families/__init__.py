"""Families of published checkpoints by name: every file here is one, and its name is the file's."""
