"""Events in, memories out: what each event does, the change log, and the chain. Pure."""
