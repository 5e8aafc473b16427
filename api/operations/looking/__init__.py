"""What people look at, and what operators and auditors prove: rows over time, jobs, room, heads, pictures."""
