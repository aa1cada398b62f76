"""Attention over a source sequence: the cells of the recurrent decoder."""
