"""Whether two statements say the same, refine or contradict each other, or have nothing to do with each other. By rules."""
