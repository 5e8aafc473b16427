"""Where the master key lies that owners' secrets are wrapped under."""
