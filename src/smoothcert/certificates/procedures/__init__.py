"""The procedures, a file each; its name is the procedure's name."""
