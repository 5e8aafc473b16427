"""Keys and grants: following what is said of them, saying it, and recording who looked at what."""
