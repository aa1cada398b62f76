"""The only part of kzoo that knows the Hugging Face Hub; importing it loads nothing."""
