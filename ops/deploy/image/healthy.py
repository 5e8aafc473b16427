"""Whether a container is well: exit code 0, or 1 with why. `healthy.py` asks `up`, `healthy.py worker` a fold worker.

`up` is asked at the socket of its data folder, which needs no name, certificate or key; a worker at its metrics port.
Standard library alone: it runs every half minute.
"""

from __future__ import annotations

import http.client
import os
import socket
import sys
from pathlib import Path

SECONDS = 8.0
"""Less than the time-out of the image's HEALTHCHECK, so that the reason is told."""


class _AtSocket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        """See `HTTPConnection.connect`."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def wrong(kind: str) -> str | None:
    """Why the process of this kind, `up` or `worker`, is not well; None where it is."""
    if kind == "worker":
        place = os.environ.get("ENGRAMLOG_METRICS", "")
        port = place.rpartition(":")[2]
        if not port.isdigit():
            return f"ENGRAMLOG_METRICS: got {place!r}; allowed: the port of the worker's metrics, or host:port"
        asked: http.client.HTTPConnection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=SECONDS)
        path = "/metrics"
    elif kind == "up":
        asked, path = _AtSocket(Path(os.environ.get("ENGRAMLOG_DATA", ".")) / "api.sock"), "/ready"
    else:
        return f"got {kind!r}; allowed: up, worker"
    try:
        asked.request("GET", path)
        answer = asked.getresponse()
        said = answer.read()
    except (OSError, http.client.HTTPException) as error:
        return f"{path} is not answered: {error or type(error).__name__}"
    finally:
        asked.close()
    if answer.status == http.client.OK:
        return None
    return f"{path} answers {answer.status}: {said[:500].decode('utf-8', 'replace')}"


def main() -> int:
    """Look, and say why where it is not well."""
    found = wrong(sys.argv[1] if len(sys.argv) > 1 else "up")
    if found is not None:
        sys.stderr.write(f"{found}\n")
    return 0 if found is None else 1


if __name__ == "__main__":
    sys.exit(main())
