"""Accuracy by length: measuring it, keeping it, showing it."""
