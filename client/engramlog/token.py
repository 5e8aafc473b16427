"""The service's token: where it is found, and to whom it may be told.

What is given goes first: the argument, then `ENGRAMLOG_TOKEN`. Without either, and for a service of this machine alone, it is
read from the file `token` of the data folder (`ENGRAMLOG_DATA`, or the platform's own), anew for each request, so that a new
token holds at once. It is sent to the address that the client was made for and to no other: redirects are not followed.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from engramlog.errors import InputError, refused

Told = Callable[[], str | None]
"""Gives the token to show now, or None where there is none."""
MAX_TOKEN = 512
HOW = "the token that `engramlog token` prints"


def token_for(url: str, token: str | None) -> Told:
    """Where the token for this address comes from. Raises InputError for one that cannot be sent, or not safely."""
    own = _is_own_machine(url)
    given = token if token is not None else os.environ.get("ENGRAMLOG_TOKEN") or None
    if given is None:
        return _lying_in(_data_folder()) if own else _none
    if not (given.isascii() and given.isprintable() and 0 < len(given) <= MAX_TOKEN) or " " in given:
        raise InputError(f"token: got a value that is not shown; allowed: {HOW}", field="token", allowed=HOW)
    if not own and urlsplit(url).scheme != "https":
        raise refused("url", url, "https for a service elsewhere: over http anybody on the way would read the token")
    return lambda: given


def _none() -> None:
    return None


def _is_own_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _data_folder() -> Path:
    """Where `engramlog up` keeps its data, by the same rules."""
    told = os.environ.get("ENGRAMLOG_DATA")
    if told:
        return Path(told).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "engramlog"
    base = os.environ.get("XDG_DATA_HOME", "").strip()
    return (Path(base) if base else Path.home() / ".local" / "share") / "engramlog"


def _lying_in(folder: Path) -> Told:
    """Reads the folder's token. Whoever calls it gets InputError where others could have read it or put it there."""
    path = folder / "token"

    def read() -> str | None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(path, f"cannot be read ({error.strerror})") from None
        try:
            found = os.fstat(descriptor)
            plain = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
            text = os.read(descriptor, 2 * MAX_TOKEN).decode("ascii", "replace").strip() if plain else ""
        finally:
            os.close(descriptor)
        if not plain:
            raise _unusable(path, "is not a plain file that this user alone can read")
        if not text.isprintable() or not text.isascii() or not text:
            raise _unusable(path, "holds no token")
        return text

    return read


def _unusable(path: Path, what: str) -> InputError:
    allowed = "a new one, which `engramlog token --rotate` makes"
    return InputError(f"token: {path} {what}; allowed: {allowed}", field="token", allowed=allowed)
