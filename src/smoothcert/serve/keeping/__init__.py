"""What is kept of answers: run folders, images by digest, and the secret of the seeds."""
