"""One request over HTTP and its answer, within bounds: of time, of size, no redirect followed, no proxy asked."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from threading import Timer
from time import monotonic
from urllib.parse import urlsplit


class NotAnswered(Exception):
    """No whole answer came; the text says why, and nothing of the address."""


def exchanged(
    url: str,
    *,
    seconds: float,
    most: int,
    headers: Mapping[str, str],
    body: bytes | None = None,
    trusted: ssl.SSLContext | None = None,
) -> tuple[int, bytes]:
    """Status and body of the answer of a http:// or https:// address: to a GET, or to a POST of `body`.

    `seconds`: from the connection to the last byte. `most`: bytes of an answer of status 200 or 400; others are told without
    theirs. `trusted`: which certificates are; those of the system unless told. Raises NotAnswered.
    """
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port, began = parts.port or (443 if secure else 80), monotonic()
    try:
        connected = socket.create_connection((host, port), seconds)
    except OSError as error:
        raise NotAnswered(error.strerror or type(error).__name__) from None
    # A server that sends a byte now and then would keep every single wait short: the whole is bounded from outside.
    ends = Timer(max(seconds - (monotonic() - began), 0.01), _cut, [connected])
    ends.daemon = True
    ends.start()
    try:
        reached = (
            (trusted or ssl.create_default_context()).wrap_socket(connected, server_hostname=host)
            if secure
            else connected
        )
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        with reached:
            return _asked(reached, host, port, path, {"Host": parts.netloc, **headers}, body, most)
    except (OSError, HTTPException, ValueError) as error:
        late = monotonic() - began >= seconds
        raise NotAnswered("no whole answer in time" if late else type(error).__name__) from None
    finally:
        ends.cancel()
        connected.close()


def _asked(
    reached: socket.socket, host: str, port: int, path: str, headers: Mapping[str, str], body: bytes | None, most: int
) -> tuple[int, bytes]:
    connection = HTTPConnection(host, port)
    connection.sock = reached
    told = {**headers, "Connection": "close"}
    connection.request("GET" if body is None else "POST", path or "/", body=body, headers=told)
    with connection.getresponse() as answer:  # it holds the connection, and is closed before its end too
        if answer.status not in (200, 400):
            return answer.status, b""
        if (answer.length or 0) > most:
            raise NotAnswered(f"more than {most:,} bytes")
        document = answer.read(most + 1)
        if len(document) > most:
            raise NotAnswered(f"more than {most:,} bytes")
        if answer.length:
            raise NotAnswered("an answer that breaks off")
        return answer.status, document


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
