"""From texts and examples to arrays: the only place where start, end and padding symbols are added."""
