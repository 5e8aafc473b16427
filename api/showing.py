"""How somebody is told to show the token: as a file, never on a command line, which every user of the machine reads (`ps`)."""

CURL = "curl -H @<(engramlog token --header)"
