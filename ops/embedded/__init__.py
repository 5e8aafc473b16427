"""The private Redis of a data folder: one real server, on a unix socket, that lives exactly as long as we do."""
