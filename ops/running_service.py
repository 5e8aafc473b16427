"""What a command asks or tells, put to the service of its data folder where that is sure to answer as the command would.

The folder, the socket in it and whoever listens there are this user's alone, and the service is shown the folder's token. It
answers where it runs the same code under the same settings (`answers_for`); else the command opens the store, as without it.
A command that is answered loads nothing of the application but its face.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramlog_server.api.cli.service import Lost, Reply
from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.durable import is_ours
from engramlog_server.ops.environment import data_folder, settings_given
from engramlog_server.ops.token import read_token

if TYPE_CHECKING:
    from engramlog_server.ops.settings import Settings

PACKAGES = ("events", "projections", "consumers", "api", "ops")
ROOT = Path(__file__).resolve().parents[1]


def code_here() -> str:
    """Where our code lies and when it was changed last, as one text; milliseconds."""
    return f"{ROOT}@{max(_newest(os.fspath(ROOT / name)) for name in PACKAGES)}"


def _newest(folder: str) -> int:
    """Of a folder and those below it: when a file of Python was written last, in nanoseconds."""
    newest = 0
    with os.scandir(folder) as found:
        for one in found:
            if one.name.endswith(".py"):
                newest = max(newest, one.stat(follow_symlinks=False).st_mtime_ns)
            elif one.name.isidentifier() and one.name != "__pycache__" and one.is_dir(follow_symlinks=False):
                newest = max(newest, _newest(one.path))
    return newest


HEARD_SECONDS: Final = 2.0
"""How long a service may take until it says that it listens."""
ANSWER_SECONDS: Final = 60.0
"""How long an answer may take from then on."""
MOST_HEAD: Final = 16 * 1024
MOST_ANSWER: Final = 64 * 1024 * 1024
LONGEST: Final = 100
"""Bytes of a socket's path; the kernel takes 107 (Linux) or 103 (macOS)."""
PIECE: Final = 256 * 1024
CONTINUE: Final = 100
BUSY: Final = 503
MARK: Final = "engramlog-command"
"""A header of every answer of the service's own door for commands: without it, it was something else that answered."""


class NoService(Exception):
    """Nothing was asked: nobody listens, or nobody who waits for a question."""


class NoAnswer(Exception):
    """It was asked, and whether it was carried out is not known."""


class _Head(NamedTuple):
    status: int
    headers: dict[str, str]


def exchanged(
    path: Path, token: str, address: str, body: bytes, *, heard: float = HEARD_SECONDS, answer: float = ANSWER_SECONDS
) -> bytes:
    """What the service at this socket answers to a POST of JSON. Raises NoService and NoAnswer; waits at most for both together."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        stream = _Stream(line, monotonic() + heard)
        try:
            with short_name(path) as name:
                line.settimeout(heard)
                line.connect(name)
            if not is_this_user(line):
                raise NoService("another user listens there")
            stream.send(_question(token, address, body))
            if stream.head().status != CONTINUE:
                raise NoService("it does not take the question")
        except (OSError, ValueError) as error:
            raise NoService(str(error)) from None
        stream.until = monotonic() + answer
        try:
            stream.send(body)
            head = stream.head()
            return stream.read(_length(head))
        except (OSError, ValueError, LookupError) as error:
            raise NoAnswer(str(error)) from None


def _question(token: str, address: str, body: bytes) -> bytes:
    return (
        f"POST {address} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        "expect: 100-continue\r\nconnection: close\r\n\r\n"
    ).encode("ascii")


def _length(head: _Head) -> int:
    """Of the answer behind it. Raises NoService where it was refused before the door, ValueError where something else answered."""
    if MARK not in head.headers and (400 <= head.status < 500 or head.status == BUSY):
        raise NoService(f"status {head.status}")
    if MARK not in head.headers:
        raise ValueError(f"status {head.status} of something else")
    return int(head.headers["content-length"])


class _Stream:
    """What is sent and comes, until an instant of the monotonic clock."""

    def __init__(self, line: socket.socket, until: float) -> None:
        self.until = until
        self._line = line
        self._come = b""

    def send(self, what: bytes) -> None:
        self._patiently()
        self._line.sendall(what)

    def head(self) -> _Head:
        """The next head. Raises ValueError for what is none."""
        while b"\r\n\r\n" not in self._come:
            if len(self._come) > MOST_HEAD:
                raise ValueError("its head is too long")
            self._come += self._more()
        head, _, self._come = self._come.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        version, status = first.split(" ", 2)[:2]
        if version not in ("HTTP/1.1", "HTTP/1.0") or len(status) != 3:
            raise ValueError("it speaks no HTTP")
        parted = (line.partition(":") for line in lines)
        return _Head(int(status), {name.strip().lower(): told.strip() for name, _, told in parted})

    def read(self, size: int) -> bytes:
        """So many bytes."""
        if not 0 <= size <= MOST_ANSWER:
            raise ValueError(f"an answer of {size} bytes")
        pieces, have = [self._come], len(self._come)
        while have < size:
            pieces.append(self._more())
            have += len(pieces[-1])
        if have > size:
            raise ValueError("more than its length")
        return b"".join(pieces)

    def _more(self) -> bytes:
        self._patiently()
        piece = self._line.recv(PIECE)
        if not piece:
            raise OSError("it closed the connection")
        return piece

    def _patiently(self) -> None:
        left = self.until - monotonic()
        if left <= 0:
            raise TimeoutError("it does not answer")
        self._line.settimeout(left)


def is_this_user(line: socket.socket) -> bool:
    """Whether whoever listens is this user, as far as the kernel tells; the folder is this user's in any case."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    told = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", told)[1] == os.geteuid())


@contextmanager
def short_name(path: Path) -> Iterator[str]:
    """A name of the socket that is short enough for the kernel."""
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    within = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{within}/{path.name}"
    finally:
        os.close(within)


SOCKET: Final = "api.sock"
ADDRESS: Final = "/v1/command"
REDIS: Final = "ENGRAMLOG_REDIS_URL"
STORE_SECONDS: Final = 5.0
"""How long an answer about the store may take: a command that looks why a service hangs answers by itself then."""


def ask_service(route: tuple[str, str], given: Mapping[str, Any]) -> Reply | None:
    """The reply to an operation by its route; None where the command is to answer by itself. Raises Lost where no answer came."""
    told = settings_given(os.environ)
    try:
        folder = data_folder(os.environ).expanduser().resolve()
        if not (is_ours(folder, stat.S_ISDIR) and is_ours(folder / SOCKET, stat.S_ISSOCK)):
            return None
        token, code = told.get("ENGRAMLOG_TOKEN") or read_token(folder), code_here()
    except (
        OSError,
        RuntimeError,
        ValueError,
        EngramlogError,
    ):  # a folder that cannot be looked into has no service for us
        return None
    if token is None or not (token.isascii() and token.isprintable()):
        return None
    question = {"code": code, "settings": told, "place": place(told), "route": route, "given": dict(given)}
    body = json.dumps(question).encode()
    patience = {} if "owner" in given else {"answer": STORE_SECONDS}
    try:
        answer = exchanged(folder / SOCKET, token, ADDRESS, body, **patience)
    except (OSError, NoService):  # OSError: no socket could be made
        return None
    except NoAnswer as lost:
        raise Lost(str(lost)) from None
    return _reply(answer)


def _reply(answer: bytes) -> Reply | None:
    try:
        document = json.loads(answer)
        if "left" in document:
            return None
        refused = document.get("refused")
        return Reply(document.get("answer"), refused, int(document.get("exit_code", 1)))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Lost(f"an answer that cannot be read: {type(error).__name__}") from None


def place(told: Mapping[str, str]) -> list[str]:
    """Where the address of a Redis of one's own means what it says: this network and these files; nothing without such a Redis."""
    if REDIS not in told:
        return []
    try:
        return [str(Path(f"/proc/self/ns/{name}").readlink()) for name in ("net", "mnt")]
    except OSError:
        return []  # no such things there: one machine has one network


OF_EACH: Final = frozenset(
    {
        "data", "redis_server", "redis_maxmemory", "partitions", "workers", "job_workers", "host", "port",
        "token",
        "redis_timeout", "log_level", "dask",
        "view_bytes", "metrics",
        "tls_cert_file", "tls_key_file", "trusted_proxies", "public_names", "operate",
        "vault_token_file",
    }
)  # fmt: skip
"""Settings that change no answer: those of the service hold for it. The folder and the token are shown by being asked at all."""
RELATIVE: Final = "unix://"


def answers_for(settings: Settings) -> Callable[[Mapping[str, Any]], bool]:
    """Tells of a command's question whether the service of these settings answers as the command would by itself: the same code,
    and settings that say the same."""
    from engramlog_server.ops.settings import load_settings  # noqa: PLC0415 - a command that asks loads none

    code, here = code_here(), place(settings_given(os.environ))
    mine = _that_matter(settings)

    def answers(asked: Mapping[str, Any]) -> bool:
        told = asked["settings"]
        if asked["code"] != code or asked["place"] != here or not isinstance(told, dict):
            return False
        try:
            theirs = load_settings({str(name): str(value) for name, value in told.items()})
        except EngramlogError:
            return False  # the command is refused, and says why
        url = theirs.redis_url or ""
        whole = not url.startswith(RELATIVE) or url.startswith(f"{RELATIVE}/")
        return whole and _that_matter(theirs) == mine

    return answers


def _that_matter(settings: Settings) -> dict[str, Any]:
    return settings.model_dump(exclude=set(OF_EACH))
