"""Who sends a request, and how much he may take: tokens, keys, sessions, and what recognises them."""
