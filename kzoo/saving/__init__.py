"""Presets on disk: folders, files, weights."""
