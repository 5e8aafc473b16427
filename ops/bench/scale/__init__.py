"""What a store costs as it grows: on one Redis and on three primaries, with one, two and three fold workers."""
