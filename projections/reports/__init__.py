"""Answers about many memories at once: health, comparison, topics, what is due for review."""
