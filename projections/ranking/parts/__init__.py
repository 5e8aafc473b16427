"""Questions that ask for several things: each part of one is answered by itself. Pure."""
