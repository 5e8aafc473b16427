"""Speed and quality, measured: `make bench` and `make eval DATA=DIR`. Not part of the installed packages."""

import engramlog_server.ops  # noqa: F401 - one thread multiplies, as in a process of the product
