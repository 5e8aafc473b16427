"""Redis on several servers, for tests: a Redis Cluster and a set of Sentinels on loopback, to break, to mend and to end."""
