"""Binding a port. No web framework is loaded for that: workers open a port for their metrics."""

from __future__ import annotations

import socket

from engramlog_server.events.errors import BadSetting


def bound(host: str, port: int, setting: str) -> socket.socket:
    """A socket bound there. Raises BadSetting where the port is taken."""
    where = address(host)
    family = socket.AF_INET6 if ":" in where else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle's wait on
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((where, port))
    except OSError as error:
        raise taken(found, host, port, setting, error) from None
    return found


def address(host: str) -> str:
    """In digits, as a socket is bound."""
    return "127.0.0.1" if host.lower() == "localhost" else host


def taken(listener: socket.socket, host: str, port: int, setting: str, error: OSError) -> BadSetting:
    """The refusal of a port; the socket is closed."""
    listener.close()
    return BadSetting(
        f"{setting}: got {port}; allowed: a free port of {address(host)}, 0 for any ({error.strerror})",
        setting=setting,
        got=port,
        allowed="a free port, 0 for any",
    )
