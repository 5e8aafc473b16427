"""What makes a long history quick to ask: where a memory's entries stand, when events happened, folded states on the way."""
