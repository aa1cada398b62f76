"""How attention scores become weights."""
