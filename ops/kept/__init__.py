"""What is kept outside of the store, to prove it by: heads of its chains, and receipts."""
