"""Other libraries on the same texts in the same run: the cost to add a text and to find it again."""
