"""A company's own identity provider: which keys sign its tokens, asked for over the network."""
