"""A store whose keys lie on the nodes of a Redis Cluster: one wire a node behind one face."""
