"""Other libraries on the same texts in the same run: what it costs to add a text there, and to find it again."""
