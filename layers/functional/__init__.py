"""The functions that the layers share."""
