"""Work over all owners of a store: in parts, by one process or several, gone on with where it was killed."""
