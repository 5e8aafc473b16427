"""Where a service listens: its ports by the settings and their certificate, the requests it refused, the socket in the data folder.

Programs of the folder's user find the service by that socket, whatever its port. Only its user can write to the folder, so the
process that listens there is the user's. Any program may take a port of this machine first: a client that trusted a port would show
the folder's token to a stranger.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event as Flag
from threading import Lock
from time import monotonic
from typing import Final, Literal, NamedTuple, NoReturn

from engramlog_server.api.http.serve import (
    CERTIFICATE,
    KEY,
    OF_THIS_MACHINE,
    OPERATE,
    Certificate,
    Clock,
    Listener,
    check_host,
)
from engramlog_server.events.alarms import Alarms, ConditionAlarm, TellingAlarms
from engramlog_server.events.errors import BadSetting
from engramlog_server.events.text import is_loopback
from engramlog_server.ops.clock import Every, Tell, now, now_micros
from engramlog_server.ops.embedded.folder import unusable
from engramlog_server.ops.embedded.lock import is_used, is_wanted, try_lock, wanting
from engramlog_server.ops.embedded.process import inode_of
from engramlog_server.ops.settings import BeyondSettings, asked_name
from engramlog_server.projections.access.caller import AccessBook
from engramlog_server.projections.shapes import ListeningTold

FIRST_KEY = "engramlog key new NAME --can use --owners '*' --speak-as user,assistant --trust asserted"
"""The command that makes the first key."""


class Listeners(NamedTuple):
    """What holds for whoever comes by each of them."""

    main: Listener = OF_THIS_MACHINE
    """The API's port, and that of `mcp --http`."""
    folder: Listener = OF_THIS_MACHINE
    """The socket in the data folder."""
    operating: Listener | None = None
    """The operating port, where there is one."""

    @property
    def certificate(self) -> Certificate | None:
        """That of all of them."""
        return self.main.certificate or (self.operating.certificate if self.operating else None)


def listeners_of(settings: BeyondSettings, host: str) -> Listeners:
    """The listeners of these settings, the API's on `host`.

    It is open to others where it listens beyond loopback, has a certificate or names a proxy: whoever asks may be anywhere then.
    Raises BadSetting where others could reach it without TLS, and for a certificate that cannot be used.
    """
    certificate = _certificate(settings)
    is_open = certificate is not None or bool(settings.trusted_proxies)
    if not is_open:
        check_host(host)
        if settings.operate is not None:
            _refuse(
                OPERATE,
                str(settings.operate.port),
                "unset while the API is this machine's alone: it operates on its own port then",
            )
        return Listeners()
    proxies, names = settings.trusted_proxies, _names(settings, certificate)
    main = Listener(public=True, operates=False, names=names, proxies=proxies, certificate=certificate)
    folder, operating = Listener(direct=True), None
    check_host(host, main)
    if settings.operate is not None:
        if is_loopback(settings.operate.host):
            operating = folder
        elif certificate is None:
            check_host(settings.operate.host, setting=OPERATE)
        else:
            operating = Listener(public=True, names=names, certificate=certificate)
    return Listeners(main, folder, operating)


def how_it_listens(listeners: Listeners) -> ListeningTold:
    """What is told of it in the log, in `/ready` and in `status`."""
    main, certificate = listeners.main, listeners.certificate
    by: Literal["loopback", "tls", "proxy"] = "loopback" if not main.public else "proxy" if main.proxies else "tls"
    ends = None if certificate is None else certificate.ends.isoformat()
    where: Literal["here", "socket", "port"] = (
        "here" if main.operates else "socket" if listeners.operating is None else "port"
    )
    return {"by": by, "certificate_ends": ends, "operating": where}


def require_key(listeners: Listeners, book: Callable[[], AccessBook]) -> None:
    """Raise BadSetting where the service is open to others and no key lives: nobody could be told from anybody."""
    if not listeners.main.public:
        return
    at = now_micros()
    if not any(one.state(at) == "live" for one in book().keys.values()):
        raise BadSetting(
            "access: got no key that lives; allowed: at least one before the API is open to others. Make the first on this"
            f" machine: {FIRST_KEY}",
            setting="ENGRAMLOG_HOST",
            got="no key that lives",
            allowed="at least one",
        )


def _certificate(settings: BeyondSettings) -> Certificate | None:
    chain, key = settings.tls_cert_file, settings.tls_key_file
    if chain is None and key is None:
        return None
    if chain is None or key is None:
        missing, told = (CERTIFICATE, KEY) if chain is None else (KEY, CERTIFICATE)
        _refuse(missing, "nothing", f"a PEM file, as {told} is set")
    return Certificate(chain, key, now)


def _names(settings: BeyondSettings, certificate: Certificate | None) -> frozenset[tuple[str, int | None]]:
    told = [asked_name(one) for one in settings.public_names]
    names = frozenset(one for one in told if one is not None)
    if not names and certificate is not None:
        names = frozenset((one, None) for one in certificate.names)
    if not names:
        why = "the certificate is for none" if certificate is not None else "a proxy is declared"
        _refuse(
            "ENGRAMLOG_PUBLIC_NAMES",
            "nothing",
            f"the names by which the service is asked, such as memory.example.org ({why})",
        )
    return names


def _refuse(name: str, got: str, allowed: str) -> NoReturn:
    raise BadSetting(f"{name}: got {got}; allowed: {allowed}", setting=name, got=got, allowed=allowed)


SOON: Final = timedelta(days=14)
LOOK_SECONDS: Final = 2.0
TROUBLE_SECONDS: Final = 10.0
"""Files that change one after the other do not fit for a moment."""
TELL_SECONDS: Final = 60.0
MOST_ADDRESSES: Final = 8
ENDS, UNREADABLE = "certificate_ends", "certificate_unreadable"


class CertificateWatch:
    """Takes a renewed certificate, and raises alarms if it ends soon or cannot be read."""

    def __init__(
        self,
        certificate: Certificate | None,
        alarms: Alarms,
        tell: Tell,
        clock: Clock = now,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        self._certificate = certificate
        self._tell = tell
        self._clock = clock
        self._ends = ConditionAlarm(alarms, ENDS)
        self._unreadable = ConditionAlarm(alarms, UNREADABLE, patient_seconds=TROUBLE_SECONDS, clock=seconds)

    def check(self) -> None:
        """Take new files, and report what is wrong with them."""
        trouble, soon = None, None
        try:
            if self._certificate is not None and self._certificate.renewed():
                self._tell("certificate renewed", ends=self._certificate.ends.isoformat())
        except BadSetting as error:
            trouble = error.message
        if self._certificate is not None and self._certificate.ends - self._clock() < SOON:
            soon = f"it ends {self._certificate.ends:%Y-%m-%d %H:%M} UTC"
        self._ends.report(soon)
        self._unreadable.report(trouble)


@contextmanager
def certificate_tended(certificate: Certificate | None, tell: Tell) -> Iterator[None]:
    """Check a certificate every few seconds for the length of a block."""
    if certificate is None:
        yield
        return
    watch = CertificateWatch(certificate, TellingAlarms(tell), tell)
    every = Every(LOOK_SECONDS, watch.check, "certificate", tell).start()
    try:
        yield
    finally:
        every.stop()


class RefusedRequests:
    """Logs, at most once a minute, how many requests were refused, why, and from where. Safe for threads."""

    def __init__(self, tell: Tell, seconds: Callable[[], float] = monotonic) -> None:
        self._tell = tell
        self._seconds = seconds
        self._lock = Lock()
        self._reasons = Counter[str]()
        self._addresses: dict[str, None] = {}
        self._told = -TELL_SECONDS

    def count(self, reason: str, address: str) -> None:
        """One more request."""
        with self._lock:
            self._reasons[reason] += 1
            if len(self._addresses) < MOST_ADDRESSES:
                self._addresses[address[:64]] = None

    def report(self) -> None:
        """Log what is new."""
        at = self._seconds()
        with self._lock:
            if not self._reasons or at - self._told < TELL_SECONDS:
                return
            reasons, addresses = dict(self._reasons), list(self._addresses)
            self._reasons.clear()
            self._addresses.clear()
            self._told = at
        self._tell("requests refused", reasons=reasons, addresses=addresses, alarm=True)


NAME = "api.sock"
LOCK = "engramlog.api"
AGAIN_SECONDS = 0.05
"""Seconds between two tries to claim it."""
LONGEST = 100
"""Bytes of a socket's path; the kernel takes 107 (Linux) or 103 (macOS)."""


class FolderSocket:
    """A claimed socket: no other process serves the folder while it is open."""

    def __init__(self, folder: Path, lock: int) -> None:
        """`lock`: the folder's lock, which is held. Raises OSError if the socket cannot be made."""
        self.path = folder / NAME
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = lock
        try:
            self.path.unlink(missing_ok=True)  # the process that left it is gone: the lock is ours
            _bind(self.listener, folder)
            self.path.chmod(0o600)
            self._made = inode_of(self.path)
        except BaseException:
            self.listener.close()
            raise

    @classmethod
    def claim(cls, folder: Path) -> FolderSocket | None:
        """The folder's socket; None while another process has it. Raises EmbeddedRedisError if it cannot be made."""
        lock = try_lock(folder, LOCK)
        if lock is None:
            return None
        try:
            return cls(folder, lock)
        except BaseException as error:
            os.close(lock)
            if isinstance(error, OSError):
                raise unusable(folder, error) from error
            raise

    @classmethod
    def claim_when_free(cls, folder: Path, told: Flag, seconds: float) -> FolderSocket | None:
        """The folder's socket, once a service that a client started has left it: within so many seconds, or until `told` is set.

        None if it is not left, because an `up` has it. Raises UnusableFolder if it cannot be made.
        """
        until = monotonic() + seconds
        with wanting(folder):
            while (claimed := cls.claim(folder)) is None and monotonic() < until:
                if told.wait(AGAIN_SECONDS):
                    break
        return claimed

    def is_there(self) -> bool:
        """Whether the socket is still in the folder."""
        return inode_of(self.path) == self._made

    def release(self) -> None:
        """Release the folder for other processes. Idempotent."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def close(self) -> None:
        """Remove the socket and release the folder. Idempotent."""
        self.listener.close()
        if self._lock >= 0 and self.is_there():
            self.path.unlink(missing_ok=True)
        self.release()


def _bind(listener: socket.socket, folder: Path) -> None:
    if len(os.fsencode(folder / NAME)) <= LONGEST:
        listener.bind(str(folder / NAME))
        return
    within = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{within}/{NAME}")  # a short name of the same; without /proc an OSError
    finally:
        os.close(within)


class Stay:
    """Decides when a service that a client started ends: after a while without requests, or if an `up` wants the store."""

    def __init__(self, folder: Path, socket: FolderSocket, idle_seconds: float) -> None:
        self._folder = folder
        self._socket = socket
        self._idle_seconds = idle_seconds

    def over(self, unasked_seconds: Callable[[], float]) -> str | None:
        """Why it ends now; None while it stays. `unasked_seconds`: since the last request ended, 0 during one."""
        if is_wanted(self._folder):
            return "an `engramlog up` wants the store"
        if not self._socket.is_there():
            return f"{self._socket.path} was removed: nobody can find this service any more"
        if unasked_seconds() > self._idle_seconds and not is_used(self._folder):
            return f"nobody has asked for {self._idle_seconds:g} s"
        return None
