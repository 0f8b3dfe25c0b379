"""Early exits, one a file: a registry reads this folder, so it holds nothing else."""
