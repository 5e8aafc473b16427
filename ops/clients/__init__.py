"""Clients that use the memory by hooks and MCP: a table of them, changes to their configuration, and what a hook answers."""
