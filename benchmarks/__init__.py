"""Speed and quality, measured: `make bench` and `make eval DATA=DIR`. Not part of the installed packages."""
