"""What operators and auditors ask of a store: statistics, and the figures that are watched."""
