"""Batches of examples."""
