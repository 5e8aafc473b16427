"""Conversations and records in, an owner's memories out."""
