"""The commands, a file a group; each is loaded when it is called."""
