"""Indexes beside a view: words, keywords, conversations, associations, vectors."""
