"""How a new statement is judged against the known ones, whoever proposed it."""
