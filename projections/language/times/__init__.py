"""Time expressions as spans of calendar days."""
