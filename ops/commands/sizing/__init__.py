"""Commands that reckon how large a store has to be; neither opens one."""
