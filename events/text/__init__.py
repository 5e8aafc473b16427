"""Which bytes and characters an event may hold: UTF-8, names once, nothing invisible."""
