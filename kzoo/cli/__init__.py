"""The command `kzoo`."""
