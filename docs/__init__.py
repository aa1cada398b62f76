"""The site: its sources, and `python -m docs`, which builds it from the repository's own files."""
