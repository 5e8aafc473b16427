"""What every question passes: its checks, its times, the owner's state it is asked of, and secrets beside content."""
