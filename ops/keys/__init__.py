"""The key store of a sealed store."""
