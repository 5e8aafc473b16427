"""The block that stands in a prompt, within a budget of tokens."""
