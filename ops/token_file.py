"""Reading the file `token` of a data folder: it is used only where nobody else can have read it or put it there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from events.errors import EngramlogError
from ops.owned import OTHERS

NAME = "token"
LONGEST = 1_024
NEW_ONE = "`engramlog token --rotate` makes a new one"


class TokenFileUnusable(EngramlogError):
    """The file with the token cannot be trusted, read or written; nobody is admitted by it."""

    status = 503
    exit_code = 1


def read_token(folder: Path) -> str | None:
    """The token of a data folder, None where it has none yet. Raises TokenFileUnusable where it cannot be trusted."""
    path = folder / NAME
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unusable_token(path, f"is a link, or cannot be read ({error.strerror})") from None
    try:
        found = os.fstat(descriptor)
        text = os.read(descriptor, LONGEST).decode("ascii", "replace").strip() if stat.S_ISREG(found.st_mode) else ""
    finally:
        os.close(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise unusable_token(path, "is no plain file")
    if found.st_uid != os.geteuid():
        raise unusable_token(path, f"belongs to user {found.st_uid}, not to this one")
    if stat.S_IMODE(found.st_mode) & OTHERS:
        raise unusable_token(path, f"could be read by others ({stat.S_IMODE(found.st_mode):04o})")
    if len(text) < 32 or not text.isprintable():
        raise unusable_token(path, "holds no token")
    return text


def unusable_token(path: Path, what: str) -> TokenFileUnusable:
    """What is wrong with the file, and what mends it."""
    return TokenFileUnusable(f"the API's token {path} {what}; {NEW_ONE}", path=str(path))
