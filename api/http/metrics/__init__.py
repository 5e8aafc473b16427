"""Prometheus metrics of a process that serves the API: what it did, and how the store stands when it is scraped."""
