"""The service's token: where it is found, and to whom it may be told.

What is given goes first: the argument, then `ENGRAMLOG_TOKEN`: the service's token, a key, or a token made of one. Without either,
and for a service of this machine alone, it is read from the file `token` of the data folder (`ENGRAMLOG_DATA`, or the platform's
own), anew for each request, so that a new token holds at once. It is sent to the address that the client was made for and to no
other: redirects are not followed.

Any user of a machine may listen on a port of it. Where the kernel tells that another user does, the folder's token is not sent:
it opens nothing there, and would be his. What the kernel told holds for three seconds. The socket in the data folder is nobody
else's (`engramlog.home`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from engramlog.edge import Edge
from engramlog.errors import InputError, refused
from engramlog.folder import data_folder
from engramlog.tokens import PREFIX, key_read

Told = Callable[[], str | None]
"""Gives the token to show now, or None where there is none."""
MAX_TOKEN = 8_192
"""A token that is made of a key says what it may do, and is as long as that."""
LISTENS = "0A"
"""The state of a socket that listens, in the kernel's tables."""
LOOK_MICROS = 3_000_000
"""How long it holds that no other user listens on a port: the kernel writes its whole table of sockets at each look."""
HOW = "the token that `engramlog token` prints, a key, or a token made of one"


def token_for(url: str, token: str | None, edge: Edge = Edge()) -> Told:  # noqa: B008 - immutable
    """Where the token for this address comes from. Raises InputError for one that cannot be sent, or not safely."""
    own = _is_own_machine(url)
    given = token if token is not None else os.environ.get("ENGRAMLOG_TOKEN") or None
    if given is None:
        return _of_this_user(url, lying_in(data_folder()), edge) if own else _none
    if not (given.isascii() and given.isprintable() and 0 < len(given) <= MAX_TOKEN) or " " in given:
        raise InputError(f"token: got a value that is not shown; allowed: {HOW}", field="token", allowed=HOW)
    if given.startswith(PREFIX):
        _check_key(given)
    if not own and urlsplit(url).scheme != "https":
        raise refused("url", url, "https for a service elsewhere: over http anybody on the way would read the token")
    return lambda: given


def _check_key(given: str) -> None:
    """Raises InputError for a key with a slip in it: the service would not know whose it is."""
    try:
        key_read(given)
    except InputError as error:
        raise InputError(
            f"token: {error.message.removeprefix('key: ')}", field="token", allowed=error.allowed
        ) from None


def _none() -> None:
    return None


def _is_own_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _of_this_user(url: str, told: Told, edge: Edge) -> Told:
    """The folder's token, unless another user listens where it would go: whoever calls it gets InputError then."""
    address = urlsplit(url)
    port = address.port or (443 if address.scheme == "https" else 80)
    looked_at: int | None = None

    def read() -> str | None:
        nonlocal looked_at
        token, now = told(), edge.now()
        if token is None or (looked_at is not None and 0 <= now - looked_at < LOOK_MICROS):  # a clock may be set back
            return token
        if (holder := other_user_on(port)) is not None:
            looked_at = None
            raise refused(
                "url",
                url,
                f"a service of this user: user {holder} listens there; pass a token of that service as token=...",
            )
        looked_at = now
        return token

    return read


def other_user_on(port: int, tables: Path = Path("/proc/net")) -> int | None:
    """Another user (not root) who listens on a port of this machine, by number; None where there is none or it is not told."""
    for name in ("tcp", "tcp6"):
        try:
            lines = (tables / name).read_text("ascii", "replace").splitlines()[1:]
        except OSError:
            continue
        for fields in (line.split() for line in lines):
            with suppress(IndexError, ValueError):  # a line that is none
                if fields[3] == LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    user = int(fields[7])
                    if user not in (0, os.geteuid()):
                        return user
    return None


def lying_in(folder: Path) -> Told:
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
