"""What an auditor asks: what changed and by whom, and why one answer stands above another. Writes nothing."""
