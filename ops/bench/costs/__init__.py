"""What appending and folding cost by CPU, of the client and of Redis apart, on several sets of texts, as a backlog and live."""
