"""Questions and verbs, as every face asks them."""
