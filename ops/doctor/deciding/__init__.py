"""What facts mean. Pure: nothing here asks anybody."""
