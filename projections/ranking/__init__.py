"""Which memories answer a question, in what order and why."""
