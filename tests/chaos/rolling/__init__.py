"""Two versions of the product side by side on one store, replaced one after the other while events are appended."""
