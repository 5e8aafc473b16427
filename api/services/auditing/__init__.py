"""What an auditor asks of the log itself: its events, and its changes in any law's numbers."""
