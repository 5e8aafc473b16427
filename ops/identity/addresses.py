"""Addresses of an identity provider as settings may name them. Loads nothing of the network."""

from __future__ import annotations

from urllib.parse import urlsplit

from engramlog_server.events.text.origins import is_loopback

ALLOWED = "an address that begins with https:// (http:// on this machine alone), of at most 1,000 characters"
MOST = 1_000


def is_safe(url: str) -> bool:
    """Whether an address may be asked: https, or http of this machine; nothing but a host, a port and a path in it."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment or "#" in url or len(url) > MOST:
        return False
    if not (url.isascii() and url.isprintable() and " " not in url):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
