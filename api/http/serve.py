"""Running the HTTP face: uvicorn on ports and unix sockets, in a thread of its own, stopped cleanly; and its listeners: from
where a request came, who may be at the other end, and what is answered there.

A listener is told to the connections that it lets in, and by them to each request (`scope["state"]`): nothing that a request says
makes it come by another. Routes about the whole store are answered on no listener that others reach, whatever key is shown.

A web page of any site, and of any other port of this machine, can make a browser send requests to 127.0.0.1. The Host tells a
page that had its name led here (DNS rebinding), the Origin and Sec-Fetch-Site tell whose page asks, and what changes something
must be of a kind that no page can send elsewhere without being asked first (CORS preflight; there is no CORS here).

A listener for others has a certificate: two PEM files, read again when they change, and refused if anything is wrong with them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import resource
import socket
import ssl
import stat
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from http import HTTPStatus
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from threading import Thread, get_ident
from time import monotonic
from typing import Any, Final, NamedTuple, NoReturn

import h11
import uvicorn
from cryptography import x509
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from engramlog_server.api.access import ALL
from engramlog_server.api.http.ports import bound, taken
from engramlog_server.api.http.problem import Problem, plain_problem, problem_of
from engramlog_server.api.operations.definition import Operation
from engramlog_server.events.errors import BadSetting, EngramlogError, ServerBusy
from engramlog_server.events.text import Origin, is_loopback, place_of
from engramlog_server.projections.access.caller import OF_THE_STORE

LISTENER: Final = "engramlog.listener"
"""Name in the state of an ASGI scope."""
AT_THE_FOLDER: Final = "folder"
"""Replaces the network address of a caller at a unix socket; the user's number follows."""
MOST_HOPS: Final = 16
"""So many addresses of X-Forwarded-For are looked at, from the last one on."""
HTTPS_PORT: Final = 443
Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Listener:
    """What holds for whoever comes by a listener. As it is made it is of this machine alone: a loopback port, or a unix socket."""

    public: bool = False
    """Whether whoever asks may be on another machine: then keys alone open it, and it is asked by `names` alone."""
    operates: bool = True
    """Whether routes about the store as a whole are answered."""
    names: frozenset[tuple[str, int | None]] = frozenset()
    """Hosts and ports that a public one is asked by; a port of None is the listener's own, or 443."""
    proxies: tuple[Network, ...] = ()
    """Where a declared proxy is: nobody else is answered. Without any, the listener has a certificate."""
    direct: bool = False
    """Whether what another passed on is refused: the service is open to others, and this way is not."""
    certificate: Certificate | None = None
    """Its own TLS."""

    @property
    def scheme(self) -> str:
        """By which it is asked, at its own address."""
        return "https" if self.certificate is not None else "http"

    def answers_to(self, host: str, port: int, own_port: int | None) -> bool:
        """Whether a public listener is asked by this name."""
        return (host, port) in self.names or ((host, None) in self.names and port in (HTTPS_PORT, own_port))

    def trusts(self, peer: str) -> bool:
        """Whether an address is a declared proxy's."""
        found = address_of(peer)
        return found is not None and any(found in one for one in self.proxies)


OF_THIS_MACHINE: Final = Listener()


def listener_of(scope: Mapping[str, Any]) -> Listener:
    """By which listener a request came; of this machine where no server of ours tells."""
    found = scope.get("state", {}).get(LISTENER)
    return found if isinstance(found, Listener) else OF_THIS_MACHINE


def address_of(told: str) -> Address | None:
    """An address as it is written, an IPv4 one inside an IPv6 one as the former; None for what is none."""
    try:
        found = ip_address(told)
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found


def asked_from(peer: str, forwarded: list[str], listener: Listener) -> str:
    """The address that a request came from: the peer's, or behind a declared proxy the nearest one that is no proxy's.

    `forwarded`: the lines of X-Forwarded-For, which nobody else is believed.
    """
    nearest = peer
    if not listener.trusts(peer):
        return nearest
    for told in ",".join(forwarded).rsplit(",", MOST_HOPS)[::-1][:MOST_HOPS]:
        found = address_of(told.strip()[:64])
        if found is None:
            return nearest
        nearest = str(found)
        if not listener.trusts(nearest):
            return nearest
    return nearest


FORWARDED: Final = frozenset(
    {"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"}
)
"""Headers of a request that somebody else made."""
ASIDE: Final = (
    *("/metrics", "/v1/command"),
    *("/v1/console/codes", "/v1/console/codes/state"),
)
"""Operating too, but made of no operation: figures, and ways in for who shows the folder's token. Sessions are not among it:
whoever has a key opens one from anywhere."""


def refused_way(scope: Scope, headers: Headers, listener: Listener) -> Problem | None:
    """The refusal of whoever did not come through the declared proxy (403), or not by TLS up to it (421)."""
    if not listener.public:
        if listener.direct and not FORWARDED.isdisjoint(headers.keys()):
            return plain_problem(
                HTTPStatus.FORBIDDEN,
                "Forwarded: got a request that somebody passed on; allowed: one that comes from this machine itself, or by the"
                " port that is open to others",
            )
        return None
    if not listener.proxies:
        return None
    peer = scope.get("client") or ("none", 0)
    if not listener.trusts(str(peer[0])):
        return plain_problem(
            HTTPStatus.FORBIDDEN,
            f"address: got {peer[0]}; allowed: a proxy that ENGRAMLOG_TRUSTED_PROXIES declares",
        )
    told = headers.getlist("x-forwarded-proto")
    if len(told) != 1 or told[0].strip().lower() != "https":
        got = repr(told[0][:20]) if len(told) == 1 else f"{len(told)} of them"
        return plain_problem(
            HTTPStatus.MISDIRECTED_REQUEST,
            f"X-Forwarded-Proto: got {got}; allowed: https, once: the proxy has to be asked by TLS, and to say so",
        )
    return None


def refused_operating(path: str, listener: Listener) -> Problem | None:
    """The refusal of what is about the store as a whole, where that is not answered. `path`: as it was sent."""
    if listener.operates or not any(one.fullmatch(path) for one in _operating()):
        return None
    return plain_problem(
        HTTPStatus.FORBIDDEN,
        f"path: got {path[:80]!r}; allowed: on the operating listener alone: the socket api.sock in the service's data folder,"
        " or the port ENGRAMLOG_OPERATE",
    )


def is_operating(operation: Operation) -> bool:
    """Whether an operation is about the store as a whole, or repairs it."""
    need = operation.needs
    if need is None:
        return False
    if operation.call.startswith("operator.dead"):
        return True
    if need.about == "anybody" and "{owner}" not in operation.path:
        return not OF_THE_STORE.isdisjoint(need.also({}))
    return need.about == "store" and need.verb in OF_THE_STORE


def operating_paths() -> tuple[str, ...]:
    """The paths of all that is operating, in braces."""
    return (*ASIDE, *dict.fromkeys(one.path for one in ALL if is_operating(one)))


@cache
def _operating() -> tuple[re.Pattern[str], ...]:
    return tuple(compile_path(one)[0] for one in operating_paths())


CONSOLE_PAGE = "/"
"""Where the page of the console is."""
OWN_HEADER = "engramlog-request"
"""A header that no page may send elsewhere unasked: what a request that changes something has where it has no JSON body."""


def refused_place(scope: Scope, headers: Headers, listener: Listener = OF_THIS_MACHINE) -> Problem | None:
    """The refusal of a request that was not meant for this service (421), or that another's page sends (403)."""
    told = headers.getlist("host")
    scheme = "https" if listener.public else scope["scheme"]  # in clear it comes from a declared proxy alone
    host = place_of(f"{scheme}://{told[0]}") if len(told) == 1 else None
    server = scope.get("server") or ("", None)
    if host is None or not _is_asked_for(host, server[1], listener):
        names = "a name of ENGRAMLOG_PUBLIC_NAMES" if listener.public else "127.0.0.1, [::1] or localhost"
        return plain_problem(
            HTTPStatus.MISDIRECTED_REQUEST,
            f"Host: got {_short(told)}; allowed: {names} with the port of this service",
        )
    origins = headers.getlist("origin")
    if origins and (len(origins) > 1 or place_of(origins[0]) != host):
        return plain_problem(
            HTTPStatus.FORBIDDEN, f"Origin: got {_short(origins)}; allowed: the pages of this service alone"
        )
    site = headers.get("sec-fetch-site", "none")
    if site not in ("none", "same-origin") and not _followed(scope, headers):
        return plain_problem(
            HTTPStatus.FORBIDDEN, f"Sec-Fetch-Site: got {_short([site])}; allowed: the pages of this service alone"
        )
    return None


def _is_asked_for(host: Origin, own_port: int | None, listener: Listener) -> bool:
    if listener.public:
        return listener.answers_to(host.host, host.port, own_port)
    return _is_own(host.host) and own_port in (None, host.port)


def _is_own(host: str) -> bool:
    """Whether a Host names this machine alone, in the one spelling that its address has."""
    return is_loopback(host) and (":" not in host or host == "::1")


def _followed(scope: Scope, headers: Headers) -> bool:
    """Whether somebody followed a link of another page to here; to the console's page also one that followed itself: a file that
    leads on, a mail program. That page holds nothing, and what it is given stands behind the `#`, which is not sent."""
    if scope["method"] != "GET" or headers.get("sec-fetch-mode") != "navigate":
        return False
    to_console = scope["path"] == CONSOLE_PAGE and headers.get("sec-fetch-dest") == "document"
    return to_console or headers.get("sec-fetch-user") == "?1"


def _short(told: list[str]) -> str:
    return repr(told[0][:80]) if len(told) == 1 else "none" if not told else f"{len(told)} of them"


OPERATE = "ENGRAMLOG_OPERATE"


def check_host(host: str, listener: Listener = OF_THIS_MACHINE, setting: str = "ENGRAMLOG_HOST") -> None:
    """Raise BadSetting for an address that others could reach, unless the listener is made for them."""
    if is_loopback(host):
        return
    if not listener.public:
        raise BadSetting(
            f"{setting}: got {host!r}; allowed: 127.0.0.1, ::1 or localhost; beyond this machine only with a certificate"
            " (ENGRAMLOG_TLS_CERT_FILE) or a declared proxy (ENGRAMLOG_TRUSTED_PROXIES), and a key",
            setting=setting,
            got=host,
            allowed="127.0.0.1, ::1 or localhost",
        )
    if address_of(host) is None:
        allowed = "an address of this machine in digits, 0.0.0.0 or :: for all of them"
        raise BadSetting(f"{setting}: got {host!r}; allowed: {allowed}", setting=setting, got=host, allowed=allowed)


def claim(
    host: str,
    port: int,
    setting: str = "ENGRAMLOG_PORT",
    *,
    listener: Listener = OF_THIS_MACHINE,
) -> socket.socket:
    """A socket on the port, which nobody can take from then on, and nobody is let in to yet. Raises as `listening` does."""
    check_host(host, listener, OPERATE if setting == OPERATE else "ENGRAMLOG_HOST")
    return bound(host, port, setting)


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


HEAD_BYTES = 32 * 1024
"""Of a request's line and headers together."""
TOLD = 100
"""So many connections beyond the limit get a 503; more are cut."""


class ConnectionLimits(NamedTuple):
    """Times are seconds."""

    most: int = 1_000
    """Open connections of one listener; a quarter of the files that the process may open where that is less."""
    header_seconds: float = 10.0
    """From the first byte of a request, or from the start of the connection, to the end of the head."""
    resting_seconds: int = 15
    """Between an answer and the next request."""
    write_seconds: float = 60.0
    """How long a client may take nothing of an answer."""


@dataclass(slots=True)
class OpenConnections:
    """What the connections of one listening socket share."""

    listener: Listener
    limits: ConnectionLimits
    refused: Callable[[str], None]
    """Counts a refused connection."""
    open: dict[HttpConnection, None] = field(default_factory=dict)
    """Open connections; the one that has been idle longest comes first."""

    @property
    def most(self) -> int:
        """How many may be open."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return self.limits.most if files == resource.RLIM_INFINITY else max(min(self.limits.most, files // 4), 8)


class HttpConnection(H11Protocol):
    """A connection that came through a door."""

    def __init__(self, door: OpenConnections, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._late: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether no request is in hand."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, if need be that of the connection that has been idle longest."""
        super().connection_made(transport)
        self.client = self.client or _user_of(transport)
        self._await_head()
        door = self._door
        if len(door.open) >= door.most:
            idle = next((one for one in door.open if one.idle), None)
            if idle is not None:
                del door.open[idle]
                idle.transport.abort()
            else:
                door.refused("connections")
                self.app = _busy
                if len(door.open) >= door.most + TOLD:
                    transport.abort()
                    return
        door.open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._door.open.pop(self, None)
        for timer in filter(None, (self._late, self._stuck)):
            timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that has begun must end in time, and so must the rest of a refused body."""
        super().data_received(data)
        if self.idle:
            self._await_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self._door.limits.header_seconds, self.transport.close)

    def on_response_complete(self) -> None:
        """Rest from now on."""
        if self in self._door.open:
            self._door.open[self] = self._door.open.pop(self)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what is read, and close."""
        if self.conn.our_state is h11.SEND_BODY:
            self.transport.close()
        else:
            super().send_400_response(
                f"{msg} Allowed: HTTP/1.1, with at most {HEAD_BYTES:,} bytes of line and headers."
            )

    def pause_writing(self) -> None:
        """The client takes nothing."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self._door.limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client takes again."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()


async def _busy(scope: Any, receive: Any, send: Any) -> None:
    """Answer on a connection beyond the limit."""
    busy = ServerBusy("every connection has a request in hand; come again", retry_after=1)
    answer = problem_of(busy)
    answer.headers["connection"] = "close"
    await answer(scope, receive, send)


def _user_of(transport: asyncio.Transport) -> tuple[str, int] | None:
    """The caller at a unix socket, as the kernel tells; where it does not, the file lets in no other user."""
    line: socket.socket | None = transport.get_extra_info("socket")
    if line is None or line.family is not socket.AF_UNIX:
        return None
    if not hasattr(socket, "SO_PEERCRED"):
        return AT_THE_FOLDER, os.geteuid()
    return AT_THE_FOLDER, struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]


STOP_SECONDS = 1
"""How long requests in hand may take once the server stops: heavy questions and feeds are ended at once."""
ENDED_SECONDS = 5.0
"""How long the end of its thread is waited for."""
CLOSING_SECONDS = 5.0
"""How long the other end of a TLS connection may take to close, too."""
BACKLOG = 512
"""Connections that wait to be accepted."""
LOGGERS = (logging.getLogger("uvicorn.error"), logging.getLogger("asyncio"))
"""What the server's libraries write to."""
Tell = Callable[..., None]


def silent(_fact: str, **_facts: Any) -> None:
    """Tells nobody."""


class Listening(NamedTuple):
    """A socket that listens, and what holds for whoever comes by it."""

    socket: socket.socket
    listener: Listener = OF_THIS_MACHINE


class ListeningServer(uvicorn.Server):
    """uvicorn with a listener to each socket: it knows one TLS for all of them, and tells no request by which it came."""

    def __init__(
        self,
        app: Any,
        listening: Sequence[Listening],
        limits: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - immutable
        refused: Callable[[str], None] = lambda _reason: None,
        on_started: Callable[[], None] = lambda: None,
        on_ending: Callable[[], None] = lambda: None,
    ) -> None:
        """`refused` counts what could not be let in, by reason; `on_ending` ends what would never end by itself."""
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level=logging.ERROR,
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            h11_max_incomplete_event_size=HEAD_BYTES,
            timeout_keep_alive=limits.resting_seconds,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        super().__init__(config)
        self._doors = [(one.socket, OpenConnections(one.listener, limits, refused)) for one in listening]
        self._refused, self._on_started, self._on_ending = refused, on_started, on_ending
        self._answered = 0
        self._asked_at = monotonic()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - as uvicorn calls it
        """Start the application, then let callers in."""
        asyncio.get_running_loop().set_exception_handler(self._troubled)
        await super().startup([])
        for listener, door in self._doors:
            self.servers.append(await self._listen(listener, door))
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """uvicorn waits for open connections before it tells the application to stop."""
        self._on_ending()
        await super().shutdown(sockets)

    async def _listen(self, listener: socket.socket, door: OpenConnections) -> asyncio.Server:
        made: Callable[[], asyncio.Protocol] = partial(
            HttpConnection,
            door,
            config=self.config,
            server_state=self.server_state,
            app_state={**self.lifespan.state, LISTENER: door.listener},
        )
        certificate = door.listener.certificate
        tls: dict[str, Any] = {}
        if certificate is not None:
            tls = {
                "ssl": certificate.context,
                "ssl_handshake_timeout": door.limits.header_seconds,
                "ssl_shutdown_timeout": CLOSING_SECONDS,
            }
        return await asyncio.get_running_loop().create_server(made, sock=listener, backlog=self.config.backlog, **tls)

    def _troubled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Count what cannot be accepted, which asyncio logs hundreds of times a second; log the rest as it does."""
        if "accept" in context["message"]:
            self._refused("files")
        else:
            loop.default_exception_handler(context)

    def unasked_seconds(self) -> float:
        """How long ago the last request was over, or the server began; 0 while one is in hand. Asked often, for any thread."""
        if self.server_state.tasks or self.server_state.total_requests != self._answered:
            self._answered, self._asked_at = self.server_state.total_requests, monotonic()
        return 0.0 if self.server_state.tasks else monotonic() - self._asked_at


class ThreadLines(logging.Handler):
    """Tells what one thread writes to a logger as facts, with tracebacks. Loggers belong to the process, so the handler filters."""

    def __init__(self, tell: Tell, thread: int) -> None:
        super().__init__()
        self._tell = tell
        self._thread = thread

    def emit(self, record: logging.LogRecord) -> None:
        """One line. A request that the end of the server cut off is no failure."""
        error = record.exc_info[0] if record.exc_info else None
        if record.thread != self._thread or error is asyncio.CancelledError:
            return
        facts: dict[str, Any] = {"exc_info": record.exc_info} if error else {}
        self._tell(record.getMessage().strip(), logger=record.name, alarm=record.levelno >= logging.WARNING, **facts)


class Server:
    """A running server: its address, and how to stop it."""

    def __init__(
        self,
        app: FastAPI,
        listening: Sequence[Listening],
        on_ready: Callable[[Server], None],
        limits: ConnectionLimits,
        tell: Tell,
    ) -> None:
        first, self.listener = listening[0]
        unix = first.family is socket.AF_UNIX
        host, port = (first.getsockname(), 0) if unix else first.getsockname()[:2]
        self.host: str = host
        """Of the first listener; a unix socket's path, which has no port."""
        self.port: int = port
        self.failure: BaseException | None = None
        """Why it ended by itself."""
        self._listeners = [one.socket for one in listening]
        self._tell = tell
        parts, metrics = app.state.parts, app.state.parts.metrics

        def end() -> None:
            for one in (app.state.admission, parts.feeds, parts.waits):
                one.close()

        def refused(reason: str) -> None:
            metrics.refused_requests.labels(reason).inc()

        self._uvicorn = ListeningServer(app, listening, limits, refused, lambda: on_ready(self), end)
        self.unasked_seconds = self._uvicorn.unasked_seconds
        self._thread = Thread(target=self._run, name="http", daemon=True)
        for listener in self._listeners:
            listener.listen(BACKLOG)  # now, and not once the thread has come so far: whoever is told of it finds it
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens, first of all."""
        if self._listeners[0].family is socket.AF_UNIX:
            return f"unix://{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener.scheme}://{host}:{self.port}"

    @property
    def running(self) -> bool:
        """Whether it still serves."""
        return self._thread.is_alive()

    def _run(self) -> None:
        heard = ThreadLines(self._tell, get_ident())
        for one in LOGGERS:
            one.disabled = False  # whoever set up logging in this process before may have silenced what it did not know
            one.addHandler(heard)
        try:
            asyncio.run(self._uvicorn.serve(sockets=self._listeners))
        except BaseException as error:  # noqa: BLE001 - the thread's end: whoever waits for it is told
            self.failure = error
        finally:
            for one in LOGGERS:
                one.removeHandler(heard)
            for listener in self._listeners:
                listener.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it has ended. Raises EngramlogError where it failed."""
        self._thread.join(seconds)
        if self.failure is not None:
            raise EngramlogError(f"the HTTP server at {self.url} failed: {self.failure!r}") from self.failure

    def stop(self, seconds: float = ENDED_SECONDS) -> None:
        """Take no more requests, end the feeds, finish what is in hand (a second at most), and end the thread.

        What computes on after `seconds` is left behind.
        """
        self._uvicorn.should_exit = True
        self.wait(seconds)
        if self.running:
            self._tell("http server not stopped", seconds=round(seconds, 3), url=self.url, alarm=True)


def serve(
    app: FastAPI,
    host: str,
    port: int,
    *,
    claimed: socket.socket | None = None,
    beside: Sequence[socket.socket | Listening] = (),
    listener: Listener = OF_THIS_MACHINE,
    on_ready: Callable[[Server], None] = lambda _server: None,
    limits: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - immutable
    tell: Tell = silent,
) -> Server:
    """Serve `app` on an address from a thread; port 0 takes a free one (`Server.port` tells which).

    `claimed` is the port as `claim` gave it, where that was asked for before; `beside` are sockets to listen on besides.
    `listener` says what holds for whoever comes by the port: unless told that is of loopback, and so are those besides.
    `on_ready` is called from that thread once requests are answered; they wait until then, none is refused.
    `tell` is told what the server's libraries log. Raises BadSetting for an address that others could reach, and for a
    port that is taken.
    """
    first = Listening(listening(host, port, claimed=claimed, listener=listener), listener)
    others = [one if isinstance(one, Listening) else Listening(one) for one in beside]
    return Server(app, [first, *others], on_ready, limits, tell)


def serve_on(app: FastAPI, listener: socket.socket, *, tell: Tell = silent) -> Server:
    """Serve `app` on a socket that is bound already, of a file that nobody but this user can reach; otherwise as `serve`."""
    return Server(app, [Listening(listener)], lambda _server: None, ConnectionLimits(), tell)


def listening(
    host: str,
    port: int,
    setting: str = "ENGRAMLOG_PORT",
    *,
    claimed: socket.socket | None = None,
    listener: Listener = OF_THIS_MACHINE,
) -> socket.socket:
    """A socket that listens on an address. Raises as `serve` does; `setting` is what the port was read from."""
    found = claimed or claim(host, port, setting, listener=listener)
    try:
        found.listen(socket.SOMAXCONN)
    except OSError as error:
        raise taken(found, host, port, setting, error) from None
    return found
