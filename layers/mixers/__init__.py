"""What mixes the positions of a block without attention weights."""
