"""Erasing an owner for good: the fence, its salts, and all that stands of it beside the log, step by step."""
