"""Bringing a store of the release before over to this one's format."""
