"""What a memory is: its record, what was said in a session, triples, tags, and what a deletion leaves standing."""
