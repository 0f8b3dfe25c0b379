"""Training objectives, one file each; a file's name is the objective's name."""
