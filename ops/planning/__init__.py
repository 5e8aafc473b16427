"""How large a store has to be: what an event costs as it was measured, and what follows for nodes, memory, disks and workers."""
