"""Bringing a whole store over: from lying open to being sealed."""
