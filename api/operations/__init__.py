"""What can be asked and told, defined once for every face."""
