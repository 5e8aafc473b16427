"""What several faces tell people in the same words."""

CURL = "curl -H @<(engramlog token --header)"
"""How to show the token: as a file, never on a command line, which every user of the machine reads (`ps`)."""
UNKNOWN = "nothing of {owner} is recorded; `engramlog status --owners --search PART` finds a name by a part of it"
"""Most often the name is spelled otherwise."""
