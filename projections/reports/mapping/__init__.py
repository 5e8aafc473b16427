"""The parts of a map: which memories, what joins them, what its clusters are called."""
