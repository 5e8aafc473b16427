"""The service of this user's data folder: where the folder is, who may be sent its token, and how its service is started.

**The folder** is `ENGRAMLOG_DATA`, or the platform's own. Its service listens on a socket in it. Nobody else can write to the
folder, so whoever listens on the socket is a process of this user.

**The token.** The argument goes first, then `ENGRAMLOG_TOKEN`: the service's token, a key, or a token made of one. Without either,
a service of this machine gets the file `token` of the folder. The file is read again for each request, so a new token holds at
once. The token is sent only to the address that the client was made for: redirects are not followed. Any user of a machine may
listen on a port of it. If the kernel says that another user listens, the folder's token is not sent. The client asks the kernel
again after three seconds.

**The start.** The client starts the `engramlog` command next to this Python, or the first on PATH, never one of the current folder
or one that others could have put there. However many programs ask at a time, one service is started. The service belongs to none
of them. It ends ten minutes after the last request, or as soon as `engramlog up` wants the store.
"""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from urllib.parse import urlsplit

import httpx2

from engramlog.errors import InputError, Unreachable, refused
from engramlog.tokens import PREFIX, key_read
from engramlog.wire import Edge


def data_folder() -> Path:
    """Where `engramlog up` keeps its data, by the same rules."""
    told = os.environ.get("ENGRAMLOG_DATA")
    if told:
        return Path(told).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "engramlog"
    base = os.environ.get("XDG_DATA_HOME", "").strip()  # a relative one counts for nothing (XDG Base Directory, 0.8)
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share") / "engramlog"


def is_private(folder: Path) -> bool:
    """Whether it is a folder of this user that nobody else can write to, so that what lies in it is his."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def make_private(folder: Path) -> bool:
    """Whether it is private; an empty one of this user is closed to all others first, as the service would do it."""
    with suppress(OSError):
        if folder.stat().st_uid == os.geteuid() and not any(folder.iterdir()):
            folder.chmod(0o700)
            if any(one.lstat().st_uid != os.geteuid() for one in folder.iterdir()):
                return False  # put there just before
    return is_private(folder)


def not_by_others(path: Path) -> bool:
    """Whether nobody but this user and root can change the file, or put another in its place. `path` must be resolved."""
    return all(_safe(place, above=place != path) for place in (path, *path.parents))


def _safe(place: Path, *, above: bool) -> bool:
    try:
        found = place.lstat()
    except OSError:
        return False
    if found.st_uid not in (0, os.geteuid()):
        return False
    if above and found.st_mode & stat.S_ISVTX:
        return True  # as /tmp: others may put things beside, and touch nothing of ours
    own_group = found.st_gid in (0, os.getegid())
    return not found.st_mode & (stat.S_IWOTH | (0 if own_group else stat.S_IWGRP))


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


URL = "http://localhost"
"""What requests through the socket are addressed to: it has no port."""


class _Home:
    """A data folder, and whether its service may be started. Safe for threads."""

    def __init__(self, folder: Path, start: bool) -> None:
        self.folder = folder
        self._start = start
        self._token = lying_in(folder)
        self._path: str | None = None
        self._open = ExitStack()
        self._lock = Lock()

    def path(self) -> str:
        """The socket's path, as short as the kernel wants it."""
        with self._lock:
            if self._path is None:
                self._path = self._open.enter_context(reachable(self.folder))
            return self._path

    def is_there(self) -> bool:
        """Whether somebody listens in the folder, who can only be this user."""
        return is_private(self.folder) and listens(self.folder)

    def ensure(self) -> None:
        """Return once the service listens. Raises Unreachable where it does not, and cannot be started."""
        ensure(self.folder, start=self._start)

    def shown(self, request: httpx2.Request) -> httpx2.Request:
        """The request with the folder's token, which the service makes where it is new."""
        token = self._token()
        if token is not None:
            request.headers["authorization"] = f"Bearer {token}"
        return request

    def close(self) -> None:
        """Give the folder back."""
        self._open.close()


class HomeTransport(httpx2.BaseTransport):
    """For `Memory`."""

    def __init__(self, folder: Path, *, start: bool) -> None:
        self._home = _Home(folder, start)
        self._inner: httpx2.HTTPTransport | None = None
        self._lock = Lock()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask the service; where nobody listens, nothing was sent, and it is started."""
        if self._home.is_there():
            try:
                return self._ask(request)
            except httpx2.ConnectError:
                """It left just now."""
        self._home.ensure()
        return self._ask(request)

    def _ask(self, request: httpx2.Request) -> httpx2.Response:
        with self._lock:
            if self._inner is None:
                self._inner = httpx2.HTTPTransport(uds=self._home.path(), verify=False, trust_env=False)
        return self._inner.handle_request(self._home.shown(request))

    def close(self) -> None:
        """Close its connections. What was started stays for others, and ends by itself."""
        if self._inner is not None:
            self._inner.close()
        self._home.close()


class AsyncHomeTransport(httpx2.AsyncBaseTransport):
    """For `AsyncMemory`; a start is waited for in a thread."""

    def __init__(self, folder: Path, *, start: bool) -> None:
        self._home = _Home(folder, start)
        self._inner: httpx2.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """As `HomeTransport.handle_request`."""
        if self._home.is_there():
            try:
                return await self._ask(request)
            except httpx2.ConnectError:
                """It left just now."""
        await asyncio.to_thread(self._home.ensure)
        return await self._ask(request)

    async def _ask(self, request: httpx2.Request) -> httpx2.Response:
        if self._inner is None:
            self._inner = httpx2.AsyncHTTPTransport(uds=self._home.path(), verify=False, trust_env=False)
        return await self._inner.handle_async_request(self._home.shown(request))

    async def aclose(self) -> None:
        """As `HomeTransport.close`."""
        if self._inner is not None:
            await self._inner.aclose()
        self._home.close()


def home_of(url: str | None, token: str | None) -> Path | None:
    """The data folder whose service is meant: where nothing names another, neither an address nor a token of one.

    None too where there are no unix sockets: the application does not run there.
    """
    if (
        os.name != "posix"
        or url is not None
        or token is not None
        or os.environ.get("ENGRAMLOG_URL")
        or os.environ.get("ENGRAMLOG_TOKEN")
    ):
        return None
    return data_folder().absolute()


SOCKET = "api.sock"
LOCK = "engramlog.start"
LOG = "service.log"
COMMAND = "engramlog"
IDLE_SECONDS = 600
"""How long what was started stays unasked."""
START_SECONDS = 60.0
"""How long a start may take, and how long that of another program is waited for."""
LOOK_SECONDS = 0.05
LONGEST = 100
"""Bytes of a socket's path; the kernel takes 107 (Linux) or 103 (macOS)."""
LAST_BYTES, LAST_LINES, MOST_WORDS = 16_384, 5, 1_000
NAME_IT = 'name one that runs elsewhere: Memory("http://127.0.0.1:8733"), or ENGRAMLOG_URL'


@contextmanager
def reachable(folder: Path) -> Iterator[str]:
    """A path of the folder's socket that is short enough for the kernel, for the length of a `with`."""
    path = folder / SOCKET
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    within = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{within}/{SOCKET}"
    finally:
        os.close(within)


def listens(folder: Path) -> bool:
    """Whether the folder's service is there. Never waits."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, suppress(OSError):
        probe.setblocking(False)
        with reachable(folder) as path:
            with suppress(BlockingIOError):  # it listens, and many others wait
                probe.connect(path)
            return True
    return False


def ensure(folder: Path, *, start: bool) -> None:
    """Return once the folder's service listens; started first where nobody did and `start` allows it.

    Raises Unreachable where it cannot be started, with the last words of what was.
    """
    if is_private(folder) and listens(folder):
        return
    if not start:
        raise _unreachable(
            f"nothing serves the data folder {folder}, and start=False; run `engramlog up`, or {NAME_IT}"
        )
    command = find_command()
    _prepare(folder)
    until = monotonic() + START_SECONDS
    with _alone(folder, until) as ours:
        if ours and not listens(folder):
            note = f"engramlog: starting the service in {folder} (first start takes a few seconds)"
            print(note, file=sys.stderr, flush=True)
            _start(command, folder, until)


def find_command() -> Path:
    """The `engramlog` command. Raises Unreachable where there is none, or none that others could not have put there."""
    named = [Path(sys.executable).parent] if sys.executable else []
    named += [Path(place) for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if place]
    passed_over: list[str] = []
    for place in named:
        command = place / COMMAND
        if not place.is_absolute() or not command.is_file() or not os.access(command, os.X_OK):
            continue
        if not_by_others(command.resolve()) and not_by_others(place.resolve()):
            return command
        passed_over.append(f"{command} was passed over: others than you could change it")
    why = "".join(f"; {one}" for one in passed_over[:3])
    raise _unreachable(
        f"nothing serves the data folder, and there is no `{COMMAND}` command to start it with, next to {sys.executable} or on PATH"
        f"{why}. Install the application, or {NAME_IT}"
    )


def _prepare(folder: Path) -> None:
    """Make the folder where it is missing, and refuse one in which others could put a socket."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unreachable(
            f"the data folder {folder} cannot be made ({error.strerror}); ENGRAMLOG_DATA names one"
        ) from None
    if not make_private(folder):
        raise _unreachable(
            f"the data folder {folder} is another user's, or others could write to it, and what lies in it may be theirs: look"
            f" through it, then close it (chmod 700 {folder}), or name another by ENGRAMLOG_DATA"
        )


@contextmanager
def _alone(folder: Path, until: float) -> Iterator[bool]:
    """True for the one program that may start the service now; False where it listens meanwhile, by another's doing."""
    descriptor = -1
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        while not _locked(descriptor):
            if listens(folder):
                yield False
                return
            if monotonic() > until:
                raise _unreachable(
                    f"another program has been starting the service of {folder} for {START_SECONDS:g} s; see {folder / LOG}"
                )
            sleep(LOOK_SECONDS)
        yield True
    except OSError as error:
        raise _unreachable(f"the data folder {folder} cannot be used ({error.strerror})") from None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _locked(descriptor: int) -> bool:
    import fcntl  # noqa: PLC0415 - not everywhere is one, and where there is none nothing is started

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start(command: Path, folder: Path, until: float) -> None:
    """Start the service and wait until it listens. One that finds a predecessor still leaving is started again."""
    log = folder / LOG
    process = _process(command, folder, log)
    while not listens(folder):
        code = process.poll()
        if code == 0:
            sleep(LOOK_SECONDS)
            process = _process(command, folder, log)
        elif code is not None:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise _unreachable(
                f"the service of {folder} could not be started: {_last_words(log) or how} (`{command} up`)"
            )
        if monotonic() > until:
            process.terminate()
            raise _unreachable(
                f"the service of {folder} was not ready after {START_SECONDS:g} s and was ended: {_last_words(log)}"
            )
        sleep(LOOK_SECONDS)
    Thread(target=process.wait, name="engramlog service", daemon=True).start()  # or it stays a zombie once it ended


def _process(command: Path, folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """The service as a process of its own session: a Ctrl-C here does not end it for others."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    told = os.open(log, flags, 0o600)
    try:
        return subprocess.Popen(
            [str(command), "up", "--idle", str(IDLE_SECONDS), "--json"],
            env={**os.environ, "ENGRAMLOG_DATA": str(folder)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=told,
            start_new_session=True,
        )
    except OSError as error:
        raise _unreachable(f"the service of {folder} could not be started: {command} cannot be run ({error})") from None
    finally:
        os.close(told)


def _last_words(log: Path) -> str:
    """What it said last, without its log lines where it said anything else."""
    try:
        told = log.read_bytes()[-LAST_BYTES:].decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line for line in told.splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith("{")]
    words = " ".join((plain or lines)[-LAST_LINES:])[-MOST_WORDS:]
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words)


def _unreachable(message: str) -> Unreachable:
    return Unreachable(message, tries=0)
