"""What is added to attention scores: where a key stands, seen from a query."""
