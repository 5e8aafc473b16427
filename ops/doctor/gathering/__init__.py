"""What asks files, Redis and the clock. Reads only."""
