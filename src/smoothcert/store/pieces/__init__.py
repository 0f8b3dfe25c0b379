"""Runs made in pieces: the plan that all share, the share of each, and the merge of their folders."""
