"""How well search and contradiction do, measured on files of one's own."""
