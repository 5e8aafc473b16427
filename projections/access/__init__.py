"""Who may do what: grants, keys, tokens made of keys, and the book that their events fold into. Pure."""
