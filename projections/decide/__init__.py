"""The third function beside `initial` and `evolve`: (command, view, ids) -> events. Pure: ids and times are arguments."""
