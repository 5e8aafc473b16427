"""What is asked of a whole store: how it stands, who has memories, which vectors are missing."""
