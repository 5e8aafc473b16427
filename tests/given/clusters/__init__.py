"""Redis on several servers, for tests: a Redis Cluster on loopback, to break, to mend and to end."""
