"""Services for auditors: what was answered, by what, and whether it still holds."""
