"""Classes of work: which questions run now, in which threads, and for how long."""
