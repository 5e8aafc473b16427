"""What is asked of a history beside what it says: what would be without some of it, and what undoing it would take."""
