"""What an erasure of single memories reaches, by links and by words. Pure."""
