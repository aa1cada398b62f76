"""Gates around a block: what of its output is let through."""
