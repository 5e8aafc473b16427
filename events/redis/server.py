"""Which server answers: its product and version, whether it can hold a store and loads, and its clock.

The clock is Redis's TIME, read once a minute and carried on between, which never goes back within a process. A Redis whose clock
goes back, or stands far from this machine's, makes honest events look as if they came from the future, and what this process says
itself look older than what it answers to. Both are told by an alarm; neither stops an append that is right under either clock.

`connect` makes the client for a store's URL: of one server, or of the nodes of a Cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from time import monotonic, sleep
from typing import Any, Literal

import redis
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.retry import Retry

from engramlog_server.events.alarms import Alarms
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.keys import MasterKey, OpenKeyStore, Seals
from engramlog_server.events.partitions import STORE_KEY
from engramlog_server.events.redis.address import read_address
from engramlog_server.events.redis.wire import AGAIN, StoreClient, Wire

Product = Literal["Redis", "Valkey"]
OLDEST: Mapping[Product, tuple[int, int]] = {"Redis": (7, 0), "Valkey": (7, 2)}
"""The oldest server of each product that is supported; Valkey has no older one."""
WAITS_FROM = (7, 2)
"""The first version, of both products, that waits for the disk when it is asked to (WAITAOF)."""
OWN_FILES_FROM = (7, 4)
"""The first version of Redis whose files Valkey cannot read."""


@dataclass(frozen=True, slots=True)
class Release:
    """A server's product and version, such as Valkey 9.1.2."""

    product: Product
    version: str

    @property
    def minor(self) -> tuple[int, int]:
        """(9, 1) of "9.1.2". Raises ValueError for text that is no version."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)

    @property
    def is_supported(self) -> bool:
        """Whether Engramlog works with it. Raises ValueError."""
        return self.minor >= OLDEST[self.product]

    @property
    def waits_for_disk(self) -> bool:
        """Whether it has WAITAOF. Raises ValueError."""
        return self.minor >= WAITS_FROM

    def reads(self, writer: Release) -> bool:
        """Whether it can load the files that `writer` wrote. Raises ValueError."""
        if self.product == writer.product:
            return self.minor >= writer.minor
        return self.product == "Valkey" and writer.minor < OWN_FILES_FROM

    def __str__(self) -> str:
        return f"{self.product} {self.version}"


def release_of(server: Mapping[str, str]) -> Release:
    """The release by INFO's section `server`: Valkey has fields of its own, and 7.2.4 in `redis_version` for old clients."""
    if server.get("server_name") == "valkey":
        return Release("Valkey", server.get("valkey_version", "unknown"))
    return Release("Redis", server.get("redis_version", "unknown"))


READ_SECONDS = 60.0
"""How long one reading is carried on by the monotonic clock."""
AGAIN_SECONDS = 1.0
"""How soon it is read again while something is wrong with it."""
BACK_MICROS = 1_000_000
"""A clock more than a second behind what it said went back."""
APART_MICROS = 300_000_000
"""Redis and this machine more than five minutes apart: as much as an event may be ahead."""
Read = Callable[[], int]


def redis_micros(wire: Wire, key: str = STORE_KEY) -> int:
    """The clock of the Redis behind a wire, of a Cluster that of the node that holds the key, microseconds since 1970. Raises
    StoreError."""
    seconds, micros = wire.at(key).call("TIME")
    return int(seconds) * 1_000_000 + int(micros)


def redis_ms(wire: Wire, key: str = STORE_KEY) -> int:
    """The same in milliseconds."""
    return redis_micros(wire, key) // 1_000


class StoreClock:
    """Microseconds since 1970 by the store's clock. Safe for threads.

    `read` asks Redis, and raises StoreError where it does not answer; `own` is this machine's clock, where it is known.
    """

    def __init__(self, read: Read, own: Read | None = None, alarms: Alarms | None = None) -> None:
        self._read = read
        self._own = own
        self._alarms = alarms
        self._lock = Lock()
        self._known: tuple[float, int] | None = None
        self._read_at = 0.0
        self._apart = self._back = False
        self._held = False
        """Whether what is appended is recorded at an earlier event's time, for the clock is behind it."""

    def now(self) -> int:
        """The store's clock now; never less than what this process was told before, which is carried on while nobody answers.
        Raises StoreError."""
        with self._lock:
            due = self._known is None or monotonic() - self._read_at > (
                AGAIN_SECONDS if self._apart or self._back else READ_SECONDS
            )
            if due:
                self._read_anew()
            carried = self._carried()
        assert carried is not None
        return carried

    def _read_anew(self) -> None:
        try:
            found = self._read()
        except StoreUnavailable:
            if self._known is None:
                raise
            self._read_at = (
                monotonic() - READ_SECONDS + AGAIN_SECONDS
            )  # of a Cluster one node was lost: others take events
            return
        self._read_at = monotonic()
        carried = self._carried()
        self._judge(found, carried)
        self._known = (self._read_at, found if carried is None else max(found, carried))

    def saw(self, clock: int, recorded: int) -> None:
        """Take in what an append was told: the clock, and what was recorded, which is later where the clock is behind it."""
        held, own = recorded - clock > BACK_MICROS, self._own() if self._own is not None else clock
        with self._lock:
            tell, over, self._held = held and not self._held, self._held and not held, held
            apart = abs(clock - own) > APART_MICROS and not self._apart
            self._apart |= apart
        if tell:
            self._raised(
                "clock_back",
                f"Redis's clock says {_told(clock)}, and the log has an event recorded at {_told(recorded)}; what is appended until"
                " then is recorded at that time",
            )
        elif over and self._alarms is not None:
            self._alarms.cleared("clock_back")
        if apart:
            self._raised("clock_apart", f"Redis's clock says {_told(clock)}, this machine's {_told(own)}")

    def behind(self) -> int:
        """Microseconds by which the store's clock is behind this machine's by more than the tolerance; else 0."""
        if self._own is None:
            return 0
        lacking = self._own() - self.now()
        return lacking if lacking > APART_MICROS else 0

    def _carried(self) -> int | None:
        if self._known is None:
            return None
        read_at, value = self._known
        return value + int((monotonic() - read_at) * 1_000_000)

    def _judge(self, found: int, carried: int | None) -> None:
        """Tell of a clock that went back, or that is not this machine's; and that it is over."""
        back = carried is not None and found < carried - BACK_MICROS
        if back and carried is not None:
            self._raised(
                "clock_back",
                f"Redis's clock says {_told(found)} after {_told(carried)}; this process goes on from there",
            )
        elif self._back and self._alarms is not None:
            self._alarms.cleared("clock_back")
        own = self._own() if self._own is not None else found
        apart = abs(found - own) > APART_MICROS
        if apart:
            self._raised("clock_apart", f"Redis's clock says {_told(found)}, this machine's {_told(own)}")
        elif self._alarms is not None and (self._apart or self._known is None):
            self._alarms.cleared("clock_apart")
        self._back, self._apart = back, apart

    def _raised(self, name: str, text: str) -> None:
        if self._alarms is not None:
            self._alarms.raised(name, "", text)


def _told(micros: int) -> str:
    return utc_text(from_micros(micros))


LOOK_SECONDS = 0.25
"""How often a Redis that loads is asked."""
STORE_SETTING = "ENGRAMLOG_REDIS_URL"
_KINDS = {
    "cluster": "one node of a Redis Cluster, whose keys lie on several servers: what belongs together would be made by half there",
    "sentinel": "a Redis Sentinel, which holds no keys",
}
"""What no plain URL may lead to, by the mode that the server tells."""
_INSTEAD = {
    "cluster": "Give the cluster's nodes: redis+cluster://HOST:PORT,HOST:PORT",
    "sentinel": "Give the primary that it watches over: redis://HOST:PORT",
}
_FOR_A_QUEUE = {
    "cluster": "Jobs need one Redis, with replicas where you like",
    "sentinel": _INSTEAD["sentinel"],
}


def refuse_kind(wire: Wire, setting: str) -> None:
    """Raise StoreMismatch where a plain URL leads to one node of a Cluster, or to a Sentinel. A server that does not tell
    passes, as does a Cluster that was named as one."""
    if wire.many:
        return
    mode = _mode(wire)
    if mode in _KINDS:
        instead = (_INSTEAD if setting == STORE_SETTING else _FOR_A_QUEUE)[mode]
        raise StoreMismatch(
            f"{setting} leads to {_KINDS[mode]}. {instead}; nothing was written", setting=setting, mode=mode
        )


def refuse_replica(wire: Wire, setting: str) -> None:
    """Raise StoreMismatch where a server that is to be written to follows another. One that does not tell passes, and a Cluster,
    whose nodes lead to their primaries."""
    if not wire.many and _fields(_asked(wire, "INFO", "replication")).get("role") == "slave":
        raise StoreMismatch(
            f"{setting} leads to a replica, where nothing can be written; allowed: the URL of the primary",
            setting=setting,
        )


def refuse_eviction(wire: Wire, setting: str) -> None:
    """Raise StoreMismatch where a server that is full forgets any key to make room. INFO tells it without CONFIG."""
    for _, server in wire.servers():
        try:
            policy = _fields(_asked(server, "INFO", "memory")).get("maxmemory_policy", "")
        except StoreUnavailable:
            if not wire.many:
                raise
            continue
        if policy.startswith("allkeys-"):
            raise StoreMismatch(
                f"{setting} leads to a Redis whose maxmemory-policy is {policy}: full, it deletes events to make room; allowed:"
                " noeviction (`CONFIG SET maxmemory-policy noeviction`, and in its file). Nothing was written",
                setting=setting,
                policy=policy,
            )


def _mode(wire: Wire) -> str:
    """standalone, cluster or sentinel; "" where the server does not tell."""
    told = _asked(wire, "HELLO")
    if isinstance(told, list):
        return str(dict(zip(told[::2], told[1::2], strict=False)).get(b"mode", b"").decode())
    return "cluster" if _fields(_asked(wire, "INFO", "cluster")).get("cluster_enabled") == "1" else ""


def await_loaded(wire: Wire, seconds: float, on_wait: Callable[[str], None] | None) -> None:
    """Wait while the server loads its data set, telling how far it is. Raises StoreUnavailable after `seconds` of it.

    Of a Cluster each node; one that cannot be reached is passed over: whoever needs its keys is told.
    """
    for _, server in wire.servers():
        try:
            _loading(server)
        except StoreUnavailable:
            if not wire.many:
                raise
            continue
        _await_loaded(server, seconds, on_wait)


def _await_loaded(wire: Wire, seconds: float, on_wait: Callable[[str], None] | None) -> None:
    began = monotonic()
    while (told := _loading(wire)) is not None:
        if monotonic() - began >= seconds:
            raise StoreUnavailable(
                f"Redis still loads its data set{told}, after {seconds:g} s of waiting; {AGAIN} once it is done",
                retry_after=10,
            )
        if on_wait is not None:
            on_wait(f"Redis loads its data set{told}")
        sleep(LOOK_SECONDS)


def _loading(wire: Wire) -> str | None:
    """How far a server that loads is, "" where it does not say; None where it does not load."""
    try:
        told = _fields(_asked(wire, "INFO", "persistence"))
    except StoreUnavailable as error:
        if isinstance(error.__cause__, redis.BusyLoadingError):  # not even that is answered
            return ""
        raise
    if told.get("loading", "0") == "0":
        return None
    percent, left = told.get("loading_loaded_perc"), told.get("loading_eta_seconds")
    return (f": {percent} %" if percent else "") + (f", about {left} s left" if left else "")


def _asked(wire: Wire, *command: str) -> Any:
    """The answer; a refusal as the error that it is. Raises StoreUnavailable where there is none."""
    return wire.pipeline([command])[0]


def _fields(answer: Any) -> dict[str, str]:
    """The lines of INFO."""
    lines = answer.decode().splitlines() if isinstance(answer, bytes) else []
    return {name: value for name, _, value in (line.partition(":") for line in lines)}


DRIVER = DriverInfo()
"""Made once: redis-py would read its package's metadata again for each connection."""


def connect(
    url: str, *, timeout: float = 10.0, master: MasterKey | None = None, keys: OpenKeyStore | None = None
) -> StoreClient:
    """A client for `url` (`events.redis.address`) whose connections never retry. `master`, `keys`: a sealed store's master key,
    and what opens its key store.

    Nothing is connected yet. Raises ValueError for an invalid URL."""
    address, seals = read_address(url), Seals(master, open_keys=keys)
    options: dict[str, Any] = {"protocol": 2, "decode_responses": False, "driver_info": DRIVER}
    options |= {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    if address.kind == "cluster":
        from engramlog_server.events.redis.cluster import ClusterClient  # noqa: PLC0415 - stores on one server do not load it

        return ClusterClient.at(address, seals, options)
    options["retry"] = Retry(NoBackoff(), 0)
    return StoreClient.of(url, seals, **options)
