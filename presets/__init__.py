"""The presets: a folder here with a config.json is one."""
