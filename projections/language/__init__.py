"""Text in, structure out: reads what people write in Chinese and English. Knows no memory, no clock and no client."""
