"""What people look at: rows to sort and filter, ranks over time, pictures, proof, patterns."""
