"""Benchmarks: ratios against limits measured in the same run, interleaved; docs/benchmarks.md tells what each means."""
