"""What lasts of what people say, and what does not: shapes of free talk, and what passes with the hour."""
