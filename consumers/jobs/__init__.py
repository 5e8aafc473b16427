"""What jobs carry out: lifecycle decisions, extraction, vectors, episodes, reviews, newer rules."""
