"""Everything that is held of an owner: memories, what was said, asked and put into prompts, changes, and what proves them."""
