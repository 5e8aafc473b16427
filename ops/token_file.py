"""Reading the file `token` of a data folder: it is used only where nobody else can have read it or put it there."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.embedded.private_file import NotPrivate, read_private

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
        text = read_private(path, LONGEST, cure="").decode("ascii", "replace").strip()
    except NotPrivate as error:
        if error.missing:
            return None
        raise unusable_token(path, error.what) from None
    if len(text) < 32 or not text.isprintable():
        raise unusable_token(path, "holds no token")
    return text


def unusable_token(path: Path, what: str) -> TokenFileUnusable:
    """What is wrong with the file, and what mends it."""
    return TokenFileUnusable(f"the API's token {path} {what}; {NEW_ONE}", path=str(path))
