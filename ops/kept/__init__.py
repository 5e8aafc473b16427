"""What is kept outside of the store, to prove it by: the heads of its chains."""
