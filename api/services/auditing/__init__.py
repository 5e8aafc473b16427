"""What auditors ask: the log, changes under any law, what changed and by whom, what would be, what an answer rested on."""
