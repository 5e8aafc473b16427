"""Language models: what they are asked, and what of their answers is taken."""
