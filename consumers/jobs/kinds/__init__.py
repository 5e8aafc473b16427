"""The kinds of scheduled jobs, one module each: `run(opened, partition)` does the work of one job."""
