"""The one place where it is decided who may call what: below every face, above every service."""
