"""The API's token: 256 random bits in the file `token` of the data folder, for this user alone.

Its folder is 0700 and it is 0600; a file that others could have read, or that is another user's, is not used: whoever read it
knows it. A running service looks at the file at every request and takes what lies there now, so that a new token holds at
once and the old one no more. Only its hash is kept in memory; it is never logged, and stands in no URL and on no command line.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.durable import NotPrivate, new_file_beside, read_private, replace_file

if TYPE_CHECKING:
    from engramlog_server.ops.settings import Settings

PREFIX = "egt1_"
"""Tells people and scanners what it is; its digit lets our own rules for secrets look at it at all."""


def make_token(folder: Path) -> str:
    """The token of a data folder, made if it has none yet; of several that are made at once one wins."""
    path = folder / NAME
    while (found := read_token(folder)) is None:
        try:
            with new_file_beside(path, _new_token()) as made, suppress(FileExistsError):
                os.link(made, path)  # as a whole, and only if there is none
        except OSError as error:
            raise unusable_token(path, f"cannot be written ({error.strerror})") from None
    return found


def rotate_token(folder: Path) -> str:
    """Replace the token; the old one is refused from the next request on."""
    try:
        replace_file(folder / NAME, _new_token(), keep_name=False)
    except OSError as error:
        raise unusable_token(folder / NAME, f"cannot be replaced ({error.strerror})") from None
    found = read_token(folder)
    assert found is not None
    return found


def _new_token() -> bytes:
    return f"{PREFIX}{secrets.token_urlsafe(32)}\n".encode()


class _Seen(NamedTuple):
    """The file as it was when it was read."""

    file: tuple[int, ...]
    digest: bytes | None


class TokenFile:
    """Admits who shows the token that lies in a data folder now. Safe for threads."""

    def __init__(self, folder: Path) -> None:
        """Raises TokenFileUnusable where the token that lies there cannot be trusted."""
        self._folder = folder
        self._lock = Lock()
        self._seen = _Seen((), None)
        make_token(folder)

    def __call__(self, shown: str) -> bool:
        """Whether this is it. Where the file is gone or not to be trusted any more, nobody is admitted."""
        digest = self._digest()
        return digest is not None and compare_digest(_hashed(shown), digest)

    def in_force(self) -> bytes | None:
        """What tells the token in force from any other: its hash; None where nobody is admitted."""
        return self._digest()

    def trouble(self) -> str | None:
        """Why nobody is admitted now; None where the token can be used."""
        try:
            missing = read_token(self._folder) is None
        except TokenFileUnusable as error:
            return error.message
        return f"the API's token {self._folder / NAME} is gone; {NEW_ONE}" if missing else None

    def _digest(self) -> bytes | None:
        try:
            at = os.lstat(self._folder / NAME)
        except OSError:
            return None
        now = (at.st_dev, at.st_ino, at.st_mode, at.st_uid, at.st_size, at.st_mtime_ns, at.st_ctime_ns)
        with self._lock:
            if self._seen.file != now:
                self._seen = _Seen(now, self._read())
            return self._seen.digest

    def _read(self) -> bytes | None:
        try:
            token = read_token(self._folder)
        except TokenFileUnusable:
            return None
        return None if token is None else _hashed(token)


class GivenToken:
    """Admits who shows the token of the environment."""

    def __init__(self, token: str) -> None:
        self._hash = _hashed(token)

    def __call__(self, shown: str) -> bool:
        """Whether this is it."""
        return compare_digest(_hashed(shown), self._hash)

    def in_force(self) -> bytes | None:
        """Its hash."""
        return self._hash

    def trouble(self) -> None:
        """None: a token of the environment stays usable."""


def _hashed(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


def _private_folder(settings: Settings) -> tuple[Path, str | None]:
    from engramlog_server.ops.embedded.folder import private_folder  # noqa: PLC0415 - who only reads a token loads no Redis

    return private_folder(settings.data)


def admits_of(settings: Settings) -> tuple[TokenFile | GivenToken, str | None]:
    """Who is admitted by these settings, and what had to be mended; the token is made where there is none yet.

    Raises TokenFileUnusable, and UnusableFolder where there can be no data folder.
    """
    if settings.token is not None:
        return GivenToken(settings.token.get_secret_value()), None
    folder, mended = _private_folder(settings)
    return TokenFile(folder), mended


def token_of(settings: Settings, *, rotate: bool = False) -> str:
    """The token itself, for its user: that of the environment, or of the data folder, made where there is none yet."""
    if settings.token is not None:
        return settings.token.get_secret_value()
    folder, _ = _private_folder(settings)
    return rotate_token(folder) if rotate else make_token(folder)


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
