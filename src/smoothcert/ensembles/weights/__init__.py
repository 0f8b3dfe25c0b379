"""Weights of an ensemble's members, fitted on hold-out images."""
