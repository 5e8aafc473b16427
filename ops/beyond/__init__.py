"""Beyond loopback: by which settings the service is open to others, what its listeners are, and what is watched of them."""
