"""Models as files that run without kzoo: what is exported, how it is written, and the check that it does the same."""
