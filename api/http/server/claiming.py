"""Taking a port before anything listens on it. No web framework is loaded for that."""

from __future__ import annotations

import socket

from api.http.server.listener import OF_THIS_MACHINE, Listener, address_of
from events.errors import BadSetting
from events.text.origins import is_loopback

OPERATE = "ENGRAMLOG_OPERATE"


def check_host(host: str, listener: Listener = OF_THIS_MACHINE, setting: str = "ENGRAMLOG_HOST") -> None:
    """Raise BadSetting for an address that others could reach, unless the listener is made for them."""
    if is_loopback(host):
        return
    if not listener.public:
        raise BadSetting(
            f"{setting}: got {host!r}; allowed: 127.0.0.1, ::1 or localhost; beyond this machine only with a certificate"
            " (ENGRAMLOG_TLS_CERT_FILE) or a declared proxy (ENGRAMLOG_TRUSTED_PROXIES), and a key",
            setting=setting,
            got=host,
            allowed="127.0.0.1, ::1 or localhost",
        )
    if address_of(host) is None:
        allowed = "an address of this machine in digits, 0.0.0.0 or :: for all of them"
        raise BadSetting(f"{setting}: got {host!r}; allowed: {allowed}", setting=setting, got=host, allowed=allowed)


def claim(
    host: str,
    port: int,
    setting: str = "ENGRAMLOG_PORT",
    *,
    listener: Listener = OF_THIS_MACHINE,
) -> socket.socket:
    """A socket on the port, which nobody can take from then on, and nobody is let in to yet. Raises as `listening` does."""
    check_host(host, listener, OPERATE if setting == OPERATE else "ENGRAMLOG_HOST")
    return bound(host, port, setting)


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
