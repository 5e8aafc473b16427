"""How what somebody tells gets into the log: appended, looked at before, carried out once under a key."""
