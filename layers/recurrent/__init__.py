"""Recurrent encoders and decoders, and the loop that all of them use."""
