"""Positions: encodings added to the inputs, and maps of queries and keys."""
