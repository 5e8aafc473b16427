"""What is asked of all owners of a store, some owners at a time: figures that add up."""
