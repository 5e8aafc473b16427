"""Acts on many memories at once, each with what goes along, and whatever is not done with its reason: one mechanism for all."""
