"""The fault test: processes are killed and stopped at random and at named points, and a ledger outside Redis judges."""
