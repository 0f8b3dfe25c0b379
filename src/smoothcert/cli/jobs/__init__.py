"""Commands that are whole jobs: train, certify and compare in one."""
