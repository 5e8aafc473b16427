"""An owner's past: its events in columns, kept moments to fold from, the life of one memory, and parts of its change log."""
