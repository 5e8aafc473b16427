"""A command's question, put to the `up` that runs on its data folder."""
