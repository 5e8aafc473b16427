"""What a text is about, and what else a question's words are looked for by."""
