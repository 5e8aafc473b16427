"""Everything of the projections that is stored in Redis: builds, change logs, views, vectors."""
