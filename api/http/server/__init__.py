"""uvicorn with an end to everything that a client could leave undone."""
