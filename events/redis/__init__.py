"""The event log on Redis Streams, and everything of the log that talks to Redis."""
