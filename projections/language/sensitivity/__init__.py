"""How sensitive a text is, and the event that holds it: the rules of levels 1 and 2, and what all rules read."""
