"""Sets of texts that a benchmark can be about: made up and seeded, in the shape of what people and assistants say."""
