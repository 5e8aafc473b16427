"""A metrics port for processes without the API: what a fold worker and an MCP server did, for Prometheus."""
