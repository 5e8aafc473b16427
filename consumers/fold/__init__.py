"""Fold workers: they keep memories level with the log, each for its share of the partitions, and rebuild them."""
