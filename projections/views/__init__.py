"""One owner's memories, ready to be asked: view, query, and what is told beside an answer."""
