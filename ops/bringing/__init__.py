"""Bringing a whole store over: to another format, or from lying open to being sealed."""
