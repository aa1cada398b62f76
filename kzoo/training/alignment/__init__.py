"""Alignment of sources and targets, learned from pairs alone."""
