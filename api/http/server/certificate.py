"""The service's own certificate: two files of PEM, read again when they change, and never used where something is wrong."""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Callable
from datetime import datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from cryptography import x509

from engramlog_server.events.errors import BadSetting

CERTIFICATE: Final = "ENGRAMLOG_TLS_CERT_FILE"
KEY: Final = "ENGRAMLOG_TLS_KEY_FILE"
NOT_OTHERS: Final = 0o027
"""What of a key file others may not have, and its group only to read: certificates are often kept by a group (ssl-cert)."""
MOST_BYTES: Final = 1 << 20
Clock = Callable[[], datetime]


class Loaded(NamedTuple):
    """A certificate as its files had it."""

    files: tuple[tuple[int, ...], ...]
    context: ssl.SSLContext
    ends: datetime
    names: frozenset[str]
    """Hosts that it is for, in lower case; none with a `*`."""


class Certificate:
    """A certificate and its key, and the TLS that they make. Whoever asks `context` gets the newest that could be read."""

    def __init__(self, chain: Path, key: Path, clock: Clock) -> None:
        """`chain`: the certificate first, then those that lead to its authority. Raises BadSetting where it cannot be used."""
        self._chain = chain
        self._key = key
        self._clock = clock
        self._loaded = self._read()

    @property
    def context(self) -> ssl.SSLContext:
        """What shakes hands, by TLS 1.2 or newer, with the newest certificate at any time."""
        context = self._loaded.context
        context.sni_callback = self._newest
        return context

    def _newest(self, connection: ssl.SSLObject, _name: str | None, _first: ssl.SSLContext) -> None:
        """A listener keeps the context that it began with: a handshake takes the newest certificate."""
        connection.context = self._loaded.context

    @property
    def ends(self) -> datetime:
        """When it ends."""
        return self._loaded.ends

    @property
    def names(self) -> frozenset[str]:
        """Hosts that it is for; none with a `*`."""
        return self._loaded.names

    def renewed(self) -> bool:
        """Whether the files are others than those in use, and are in use from now on. Raises BadSetting where they cannot be.

        Then the ones read before stay in use, and the next call tries again.
        """
        if self._files() == self._loaded.files:
            return False
        self._loaded = self._read()
        return True

    def _files(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_seen(path, name) for path, name in ((self._chain, CERTIFICATE), (self._key, KEY)))

    def _read(self) -> Loaded:
        files = self._files()
        first = _first(self._chain)
        now = self._clock()
        if first.not_valid_after_utc <= now:
            _refuse(
                CERTIFICATE, self._chain, f"it ended {first.not_valid_after_utc:%Y-%m-%d %H:%M} UTC", "one that has not"
            )
        if first.not_valid_before_utc > now:
            begins = f"it begins {first.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
            _refuse(CERTIFICATE, self._chain, begins, "one that has begun; is this machine's clock right?")
        _check_key(self._key)
        return Loaded(files, _context(self._chain, self._key), first.not_valid_after_utc, frozenset(_names(first)))


def _seen(path: Path, name: str) -> tuple[int, ...]:
    """A file as it is now."""
    try:
        at = path.stat()
    except (OSError, ValueError) as error:
        _refuse(name, path, f"it cannot be read ({getattr(error, 'strerror', error)})", "a file of PEM")
    if not stat.S_ISREG(at.st_mode) or at.st_size > MOST_BYTES:
        _refuse(name, path, "it is no plain file, or a very long one", f"a file of PEM of at most {MOST_BYTES:,} bytes")
    return at.st_dev, at.st_ino, at.st_mode, at.st_uid, at.st_size, at.st_mtime_ns, at.st_ctime_ns


def _first(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(path.read_bytes())[0]
    except OSError as error:
        _refuse(CERTIFICATE, path, f"it cannot be read ({error.strerror})", "a file of PEM")
    except ValueError:
        _refuse(CERTIFICATE, path, "it holds no certificate", "PEM: the certificate first, then those it was signed by")


def _check_key(path: Path) -> None:
    at = path.stat()
    if at.st_uid not in (0, os.geteuid()) or stat.S_IMODE(at.st_mode) & NOT_OTHERS:
        got = f"user {at.st_uid} has it, with {stat.S_IMODE(at.st_mode):04o}"
        _refuse(KEY, path, got, "a file of this user or of root that others cannot read (chmod 0600; 0640 for a group)")


def _context(chain: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(chain, key, password=_no_password)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
        allowed = "PEM: the certificate's own key, without a password"
        _refuse(KEY, key, str(reason).replace("_", " ").lower(), allowed)
    return context


def _no_password() -> NoReturn:
    raise ValueError("it needs a password")


def _names(first: x509.Certificate) -> set[str]:
    try:
        told = first.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    dns = {one.lower() for one in told.get_values_for_type(x509.DNSName) if "*" not in one}
    return dns | {str(ip_address(str(one))) for one in told.get_values_for_type(x509.IPAddress)}


def _refuse(name: str, path: Path, got: str, allowed: str) -> NoReturn:
    raise BadSetting(f"{name}: got {path}: {got}; allowed: {allowed}", setting=name, got=got, allowed=allowed)
