"""What a model does inside, as arrays and as pictures."""
