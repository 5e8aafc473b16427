"""The fault test on a Redis Cluster: nodes are killed, cut off and moved, and a book kept outside of Redis judges."""
