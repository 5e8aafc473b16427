"""What a question asks for as a whole: its parts, what it compares, whether many things answer it, who is meant by a role. Pure."""
