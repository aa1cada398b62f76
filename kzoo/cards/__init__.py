"""Cards and results pages, rendered from the results."""
