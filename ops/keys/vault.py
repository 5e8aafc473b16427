"""A master key that lies in a key service: the transit engine of HashiCorp Vault or of OpenBao, which never tells it.

Secrets go there to be wrapped and lines to be unwrapped, some hundred in one request; each is bound to its store and owner
(`associated_data`). A line is byte 2 and what the service made of the secret, `vault:v3:...`: it tells by which version of the key.
"""

from __future__ import annotations

import re
import ssl
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final

import orjson

from engramlog_server.events.alarms import one_line
from engramlog_server.events.errors import BadSetting, KeyUnavailable
from engramlog_server.events.keys import Wrapped
from engramlog_server.ops.durable import NotPrivate, read_private
from engramlog_server.ops.keys.exchange import NotAnswered, exchanged
from engramlog_server.ops.settings import ServiceKey

SERVICE_MARK: Final = b"\x02"
"""What a line begins with that a key service wrapped."""
BATCH: Final = 250
"""Secrets in one request at most: some 100 kB of answer."""
SECONDS: Final = 4.0
"""For one request, from the connection to the last byte."""
REST_SECONDS: Final = 5.0
"""How long a service that did not answer is not asked again: who asks meanwhile is told at once."""
REFUSED_SECONDS: Final = 1.0
"""The same of one that answered, and would not."""
VERSION_SECONDS: Final = 30.0
"""How long the version is good that wrapped last."""
MOST_BYTES: Final = 1 << 20
MOST_TOKEN: Final = 4_096
TOKEN_FILE: Final = "ENGRAMLOG_VAULT_TOKEN_FILE"  # noqa: S105 - the name of a setting
_NO_KEY = "encryption key not found"
_VERSION = re.compile(rb"vault:v([1-9][0-9]{0,8}):[A-Za-z0-9+/=]{1,2000}")


class VaultKey:
    """A `MasterKey` that a key service keeps. Safe for threads."""

    def __init__(
        self,
        place: ServiceKey,
        token: Callable[[], str],
        *,
        trusted: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        seconds: float = SECONDS,
        rest: float = REST_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`token`: what is shown, asked for at each request; raises BadSetting where there is none. `trusted`: which certificates
        are, of an https:// address; raises BadSetting."""
        self._place, self._token = place, token
        self._trusted = trusted
        self._context: ssl.SSLContext | None = None
        self._seconds, self._rest, self._clock = seconds, rest, clock
        self._lock, self._asking = Lock(), Lock()
        self._failed: KeyUnavailable | None = None
        self._not_before = 0.0
        self._version: tuple[float, int] | None = None

    @property
    def name(self) -> str:
        """See `MasterKey.name`. Raises BadSetting where there is no token, or no certificates can be trusted."""
        self._token()
        self._certificates()
        return str(self._place)

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """See `MasterKey.wrap`."""
        found = list[bytes]()
        for start in range(0, len(secrets), BATCH):
            some = secrets[start : start + BATCH]
            items = [{"plaintext": _text(secret), "associated_data": _text(about)} for about, secret in some]
            for one in self._asked("encrypt", items):
                line = str(one.get("ciphertext", "")).encode()
                if not _VERSION.fullmatch(line):
                    raise self._odd(one)
                found.append(SERVICE_MARK + line)
        if found:
            with self._lock:
                self._version = self._clock(), max(version_of(line) for line in found)
        return found

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        """See `MasterKey.unwrap`."""
        foreign = KeyUnavailable("it was not wrapped by a key service, but by a key file", passes=False)
        found: list[bytes | KeyUnavailable] = [foreign] * len(lines)
        ours = [at for at, one in enumerate(lines) if one.line[:1] == SERVICE_MARK]
        for start in range(0, len(ours), BATCH):
            some = ours[start : start + BATCH]
            items = [
                {"ciphertext": lines[at].line[1:].decode("ascii", "replace"), "associated_data": _text(lines[at].about)}
                for at in some
            ]
            try:
                answers = self._asked("decrypt", items)
            except KeyUnavailable as error:
                for at in ours[start:]:
                    found[at] = error
                break
            for at, one in zip(some, answers, strict=True):
                found[at] = self._secret(one)
        return found

    def wrapped_by(self, line: bytes) -> str | None:
        """See `MasterKey.wrapped_by`."""
        version = version_of(line) if line[:1] == SERVICE_MARK else 0
        return f"v{version}" if version else None

    def is_current(self, line: bytes) -> bool:
        """See `MasterKey.is_current`: asks which version wraps now, every half minute at most."""
        with self._lock:
            known = self._version
        if known is None or self._clock() - known[0] >= VERSION_SECONDS:
            self.wrap([(b"", bytes(32))])
            with self._lock:
                known = self._version
        assert known is not None
        return line[:1] == SERVICE_MARK and version_of(line) == known[1]

    def _secret(self, one: Mapping[str, Any]) -> bytes | KeyUnavailable:
        if one.get("error"):
            return KeyUnavailable(f"{self._place} does not open it: {one_line(str(one['error']), 200)}", passes=False)
        try:
            return b64decode(str(one["plaintext"]), validate=True)
        except (KeyError, ValueError):
            return self._odd(one)

    def _odd(self, one: Mapping[str, Any]) -> KeyUnavailable:
        why = one_line(str(one.get("error") or "an answer without what was asked for"), 200)
        return KeyUnavailable(f"{self._place}: {why}", passes=False)

    def _asked(self, what: str, items: Sequence[Mapping[str, str]]) -> Sequence[Mapping[str, Any]]:
        """One request. Raises KeyUnavailable: at once while the service rests, or another thread finds out whether it is back."""
        with self._lock:
            failed, wait = self._failed, self._not_before - self._clock()
        if failed is not None and (wait > 0 or not self._asking.acquire(blocking=False)):
            again = max(ceil(wait), 1)
            raise KeyUnavailable(failed.message, passes=failed.passes, **{**failed.context, "retry_after": again})
        try:
            found = self._sent(what, items)
        except KeyUnavailable as error:
            with self._lock:
                self._failed = error
                self._not_before = self._clock() + (self._rest if error.passes else min(REFUSED_SECONDS, self._rest))
            raise
        finally:
            if failed is not None:
                self._asking.release()
        with self._lock:
            self._failed = None
        return found

    def _sent(self, what: str, items: Sequence[Mapping[str, str]]) -> Sequence[Mapping[str, Any]]:
        url = f"{self._place.address}/v1/{self._place.mount}/{what}/{self._place.key}"
        try:
            headers = {
                "X-Vault-Token": self._token(),
                "X-Vault-Request": "true",
                "Content-Type": "application/json",
            }
            trusted = self._certificates()
        except BadSetting as error:  # a file that went while this runs
            raise KeyUnavailable(error.message, passes=False, setting=error.context.get("setting")) from error
        body = orjson.dumps({"batch_input": items})
        try:
            status, answer = exchanged(
                url, seconds=self._seconds, most=MOST_BYTES, headers=headers, body=body, trusted=trusted
            )
        except NotAnswered as error:
            raise KeyUnavailable(f"the key service does not answer ({self._place}): {error}") from None
        return self._read(status, answer, len(items))

    def _read(self, status: int, answer: bytes, count: int) -> Sequence[Mapping[str, Any]]:
        if status == 403:
            raise KeyUnavailable(
                f"the key service does not let us in ({self._place}): the token of {TOKEN_FILE} has ended, or may not"
                " encrypt and decrypt by this key",
                passes=False,
                setting=TOKEN_FILE,
            )
        if status == 404:
            raise KeyUnavailable(f"the key service has no transit engine there ({self._place})", passes=False)
        if status not in (200, 400):
            raise KeyUnavailable(f"the key service cannot serve now ({self._place}): answered {status}")
        try:
            told = orjson.loads(answer)
            if status == 400 and not isinstance(told.get("data"), dict):
                return self._refused(told)
            found: list[dict[str, Any]] = told["data"]["batch_results"]
            whole = len(found) == count and all(isinstance(one, dict) for one in found)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            whole = False
        if not whole:
            raise KeyUnavailable(f"what answers is no key service ({self._place})")
        return found

    def _refused(self, told: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Raises KeyUnavailable for a request that was refused as a whole."""
        why = one_line("; ".join(map(str, told["errors"])), 200)
        missing = "the key service has no such key, or not any more" if _NO_KEY in why else "the key service refuses"
        raise KeyUnavailable(f"{missing} ({self._place}): {why}", passes=False)

    def _certificates(self) -> ssl.SSLContext | None:
        if self._context is None and self._place.address.startswith("https:"):
            self._context = self._trusted()
        return self._context


def version_of(line: bytes) -> int:
    """Which version of the key made a line; 0 of a line that no key service made."""
    found = _VERSION.fullmatch(line[1:])
    return int(found[1]) if found else 0


def token_in(path: Path) -> str:
    """The token that lies in a file which others cannot read: looked at anew each time, for tokens end and are renewed.
    Raises BadSetting."""
    try:
        text = read_private(path, MOST_TOKEN + 1, ours=False).decode("ascii", "replace").strip()
    except NotPrivate as error:
        raise _unusable(path, error.what) from None
    if not fits_a_header(text):
        raise _unusable(path, f"holds no token: 1 to {MOST_TOKEN:,} printable ASCII characters without a space")
    return text


def fits_a_header(token: str) -> bool:
    """Whether a token can be shown."""
    return 0 < len(token) <= MOST_TOKEN and token.isascii() and token.isprintable() and " " not in token


def _unusable(path: Path, what: str) -> BadSetting:
    return BadSetting(f"{TOKEN_FILE}: the file {path} {what}", setting=TOKEN_FILE)


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()
