"""`make audit`: what is pinned, looked up in the lists of known weaknesses."""
