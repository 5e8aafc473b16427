"""Which node holds which slot: one map for all wires of a process; and what a cluster tells of its nodes.

A node's word is taken for what it is: whoever does not answer within a second is asked last, an answer that no node of a cluster
gives is passed over, and one thread that asks keeps no other waiting, which go on with what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

import redis
from redis.backoff import NoBackoff
from redis.exceptions import AskError, MovedError
from redis.retry import Retry

from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.partitions import SLOTS
from engramlog_server.events.redis.address import ServerPlace
from engramlog_server.events.redis.wire import AGAIN, Wire, as_store_error

_NONE = ""
"""The name of no node."""
MOST_NODES = 1_024
"""Nodes, replicas among them, of which a map is taken; a cluster has up to 1,000."""
_MOST_HOST = 255
_UNKNOWN = (None, b"", b"?")
"""A host that the node does not know, or that is the one it was asked at."""
_PRIMARY = 2
"""Where a row names its primary; first and last slot stand before it, replicas after it."""


def told_of(name: str, error: StoreUnavailable, *, not_done: bool = False) -> StoreUnavailable:
    """The same error with the node that it is about."""
    told: dict[str, Any] = {"retry_after": 1, **error.context, "node": name}
    begins = f"node {name} of the cluster: "
    message = error.message if error.message.startswith(begins) else begins + error.message
    found = StoreUnavailable(message, not_done=not_done or error.not_done, **told)
    found.__cause__ = error
    return found


class NotACluster(ValueError):
    """An answer that no node of a cluster gives."""


class _ToldSlots(NamedTuple):
    """A map of slots."""

    slots: list[str]
    """By slot the name of its primary."""
    replicas: dict[str, set[str]]
    """By primary the names of its replicas."""
    places: dict[str, ServerPlace]
    """By name where a node is."""

    @property
    def covered(self) -> int:
        """How many slots have a node."""
        return SLOTS - self.slots.count(_NONE)


def place_of(host: Any, port: Any) -> ServerPlace | None:
    """A place that can be; None of a host or port that nobody has."""
    name = host.decode("utf-8", "replace") if isinstance(host, bytes) else host
    if not isinstance(name, str) or not 0 < len(name) <= _MOST_HOST or not name.isascii() or not name.isprintable():
        return None
    if set(name) & set(" /@,?#[]") or not isinstance(port, int) or not 0 < port < 65_536:
        return None
    return ServerPlace(name, port)


def read_slots(answer: Any, asked: str) -> _ToldSlots:
    """The map in an answer to CLUSTER SLOTS; `asked`: the host that was asked, which a node may leave out. Raises NotACluster."""
    told = _ToldSlots([_NONE] * SLOTS, {}, {})
    try:
        for row in answer:
            first, last, names = int(row[0]), int(row[1]), _names(row[_PRIMARY:], asked, told.places)
            if not 0 <= first <= last < SLOTS:
                raise NotACluster(f"slots {first} to {last}")
            told.slots[first : last + 1] = [names[0]] * (last + 1 - first)
            told.replicas.setdefault(names[0], set()).update(names[1:])
    except (TypeError, ValueError, IndexError) as error:
        raise NotACluster(f"its answer to CLUSTER SLOTS cannot be read: {error}") from error
    return told


def _names(nodes: Any, asked: str, places: dict[str, ServerPlace]) -> list[str]:
    """The nodes of a row by name, the primary first. A replica whose place cannot be is left out."""
    found = []
    for number, node in enumerate(nodes):
        place = place_of(asked if node[0] in _UNKNOWN else node[0], node[1])
        if place is None:
            if not number:
                raise NotACluster("a primary without a place")
            continue
        places.setdefault(str(place), place)
        if len(places) > MOST_NODES:
            raise NotACluster(f"more than {MOST_NODES:,} nodes")
        found.append(str(place))
    return found


REFRESH_SECONDS = 0.1
"""How soon after an answer the nodes are asked again at the earliest, for all threads together."""
_STALE_SECONDS = 30.0
"""From when on a map is asked for anew by whoever wants all nodes: who has a slot that was moved says so himself."""
ANSWER_SECONDS = 1.0
"""How long a node may take to say where slots are, or that it lives."""
UNREACHED_SECONDS, MOST_UNREACHED_SECONDS = 0.5, 4.0
"""How long a node that could not be reached is not asked again, by anybody of this process: at first; and at most of one that lets
whoever asks wait, since others wait for him."""
_FAILED_SECONDS = 10.0
"""How long such a node is the last to be asked where slots are."""
_MOST_TRIED = 8
"""Nodes that are tried at most, beside those of the URL."""
_ASKING_SECONDS = 4.0
"""For how long one thread goes on to ask while nodes let it wait."""
_MOST_ASKED = 4
"""Nodes that are asked at most, of those that answer, while some slots are nobody's to all of them."""


class ClusterNode(NamedTuple):
    """A node, and how to reach it."""

    name: str
    """host:port, as the cluster tells it."""
    client: redis.Redis
    place: ServerPlace


class _Silent(NamedTuple):
    """A node that did not answer: when, and what was told of it."""

    at: float
    wait: float
    """How long it is not asked again."""
    error: StoreUnavailable


class SlotMap:
    """The slots of a cluster and the nodes that hold them. Safe for threads."""

    def __init__(self, places: Sequence[ServerPlace], options: dict[str, Any]) -> None:
        """`places`: nodes to begin with, asked too where no other answers. `options`: of each connection, for redis-py."""
        self._places = {str(place): place for place in places}
        self._options = {**options, "retry": Retry(NoBackoff(), 0)}
        shortest = min(ANSWER_SECONDS, options.get("socket_timeout") or ANSWER_SECONDS)
        self._asking = {**self._options, "socket_timeout": shortest, "socket_connect_timeout": shortest}
        self._told: _ToldSlots | None = None
        self._clients: dict[str, redis.Redis] = {}
        self._askers: dict[str, redis.Redis] = {}
        self._silent: dict[str, _Silent] = {}
        self._turn = Lock()
        """Held by the thread that asks."""
        self._made = Lock()
        """Held while a client is made, or let go."""
        self._asked_at = float("-inf")
        self._turns = 0
        self._refused: Exception | None = None
        """Why nobody told the first map when it was asked for last."""

    def node_of(self, slot: int) -> ClusterNode:
        """The primary that holds a slot. Raises StoreUnavailable where none does, or nobody tells."""
        told = self._known()
        if told.slots[slot] == _NONE:
            self.refresh()
            told = self._known()
        if (name := told.slots[slot]) == _NONE:
            raise StoreUnavailable(
                f"no node of the cluster holds slot {slot}; {AGAIN}", retry_after=1, not_done=True, slot=slot
            )
        return self._node(told.places[name])

    def know(self) -> None:
        """Have the nodes told, where they were not yet. Raises StoreUnavailable, StoreMismatch."""
        self._known()

    def is_primary(self, name: str) -> bool:
        """Whether a node holds any slot, as far as is known."""
        return self._told is None or name in self._told.slots

    def primaries(self) -> list[ClusterNode]:
        """All primaries, by name. Raises StoreUnavailable."""
        told = self._recent()
        return [self._node(told.places[name]) for name in sorted(set(told.slots) - {_NONE})]

    def replicas_of(self) -> dict[str, list[str]]:
        """By primary the names of its replicas, as the cluster tells them. Raises StoreUnavailable."""
        told = self._recent()
        return {name: sorted(told.replicas.get(name, ())) for name in sorted(set(told.slots) - {_NONE})}

    def beside(self, name: str) -> redis.Redis:
        """A client of a node that holds no slots, by its name, such as a replica; nothing is connected yet."""
        host, _, port = name.rpartition(":")
        return redis.Redis(host.strip("[]"), int(port), **self._options)

    def slots_of(self) -> dict[str, int]:
        """By primary how many slots it holds. Raises StoreUnavailable."""
        found: dict[str, int] = {}
        for name in self._recent().slots:
            found[name] = found.get(name, 0) + 1
        found.pop(_NONE, None)
        return dict(sorted(found.items()))

    def moved(self, error: MovedError) -> None:
        """Take in that a slot lies elsewhere, as a node said; where that cannot be, the nodes are asked."""
        told = self._known()
        place = place_of(error.host, error.port)
        is_known = place is not None and str(place) in told.places
        if place is None or not 0 <= error.slot_id < SLOTS or not (is_known or len(told.places) < MOST_NODES):
            self.refresh()
            return
        told.places.setdefault(str(place), place)
        told.slots[error.slot_id] = str(place)

    def asked(self, error: AskError) -> ClusterNode | None:
        """The node that a slot is on its way to, as the one said that it leaves; None where that cannot be."""
        place, told = place_of(error.host, error.port), self._known()
        if place is None or not (str(place) in told.places or len(self._clients) < MOST_NODES):
            return None
        return self._node(place)

    def look(self, node: ClusterNode) -> None:
        """See that a node answers before anything is sent to it. Raises StoreUnavailable, at once where it did not a moment ago."""
        silent = self._silent.get(node.name)
        if silent is not None and monotonic() - silent.at < silent.wait:
            raise _again(silent.error) from silent.error.__cause__
        try:
            self._asker(node.place).ping()
        except (redis.RedisError, OSError) as error:
            raise _again(self._did_not_answer(node.name, error)) from error
        self._silent.pop(node.name, None)

    def refresh(self, lost: str = "") -> None:
        """Ask the nodes anew, unless that was just done or another thread does it. Keeps what is known where none answers.

        `lost`: a node that answered no more, which is asked last.
        """
        if lost and lost not in self._silent:
            gone = StoreUnavailable(f"node {lost} of the cluster was lost; {AGAIN}", retry_after=1)
            self._silent[lost] = _Silent(monotonic(), 0.0, gone)
        if self._told is None or not self._turn.acquire(blocking=False):
            return
        try:
            if monotonic() - self._asked_at >= REFRESH_SECONDS:
                found, _ = self._ask()
                if found is not None:
                    self._take(found)
                self._asked_at = monotonic()
        finally:
            self._turn.release()

    def rest(self) -> None:
        """Close what is kept open for asking; the next question opens it anew."""
        with self._made:
            clients = [*self._askers.values(), *self._clients.values()]
        for client in clients:
            client.connection_pool.disconnect(inuse_connections=False)

    def close(self) -> None:
        """Close what is kept open; the next call begins anew."""
        self._told = None
        with self._made:
            clients = [*self._askers.values(), *self._clients.values()]
            self._askers.clear()
            self._clients.clear()
        for client in clients:
            client.close()

    def _known(self) -> _ToldSlots:
        if (told := self._told) is not None:
            return told
        with self._turn:
            if self._told is not None:
                return self._told
            if self._refused is not None and monotonic() - self._asked_at < UNREACHED_SECONDS:
                raise self._why(self._refused)  # as the thread was told for which this one waited
            found, self._refused = self._ask()
            self._asked_at = monotonic()
            if found is None:
                raise self._why(self._refused)
            self._take(found)
            return found

    def _recent(self) -> _ToldSlots:
        """The map, asked for anew where it is old."""
        self._known()
        if monotonic() - self._asked_at > _STALE_SECONDS:
            self.refresh()
        return self._known()

    def _take(self, found: _ToldSlots) -> None:
        """Go on with this map, and let go of whom it does not name."""
        self._told = found
        kept = found.places.keys() | self._places.keys()
        with self._made:
            gone = [(some, name) for some in (self._askers, self._clients) for name in some if name not in kept]
            clients = [some.pop(name) for some, name in gone]
        for client in clients:
            client.close()
        for name in self._silent.keys() - kept:
            self._silent.pop(name, None)

    def _ask(self) -> tuple[_ToldSlots | None, Exception | None]:
        """The map as told by one node, and why others told none. The first that has every slot; else who has most of some."""
        best: _ToldSlots | None = None
        wrong: Exception | None = None
        answered = 0
        end = monotonic() + _ASKING_SECONDS
        for place in self._in_turn():
            if wrong is not None and monotonic() >= end:
                break
            try:
                answer = self._asker(place).execute_command("CLUSTER", "SLOTS")  # type: ignore[no-untyped-call]
                found = read_slots(answer, place.host)
            except (NotACluster, redis.ResponseError) as error:
                wrong = error
                continue
            except (redis.RedisError, OSError) as error:
                self._did_not_answer(str(place), error)
                wrong = error
                continue
            answered += 1
            if best is None or found.covered > best.covered:
                best = found
            if best.covered == SLOTS or answered >= _MOST_ASKED:
                break
        return best, wrong

    def _in_turn(self) -> list[ServerPlace]:
        """Whom to ask: some of those that are known, by turns, so that one that is behind is not asked for ever; then those of the
        URL; who did not answer of late comes last."""
        now = monotonic()
        silent = {name for name, one in list(self._silent.items()) if now - one.at < _FAILED_SECONDS}
        known = [] if self._told is None else list(self._told.places.values())
        self._turns += 1
        at = self._turns % max(len(known), 1)
        turned = sorted([*known[at:], *known[:at]], key=lambda place: str(place) in silent)[:_MOST_TRIED]
        places = dict.fromkeys([*turned, *self._places.values()])
        return sorted(places, key=lambda place: str(place) in silent)

    def _did_not_answer(self, name: str, error: Exception) -> StoreUnavailable:
        found = as_store_error(error, reading=True)
        assert isinstance(found, StoreUnavailable)
        passes = not isinstance(error, redis.AuthenticationError)
        told = told_of(name, found, not_done=passes)
        told.__cause__ = error
        before = self._silent.get(name)
        wait = UNREACHED_SECONDS
        if isinstance(error, redis.TimeoutError) and before is not None:
            wait = min(max(2 * before.wait, wait), MOST_UNREACHED_SECONDS)
        self._silent[name] = _Silent(monotonic(), wait, told)
        return told

    def _why(self, error: Exception | None) -> StoreUnavailable | StoreMismatch:
        told = ", ".join(self._places)
        if isinstance(error, redis.ResponseError) and "cluster support disabled" in str(error):
            return StoreMismatch(
                f"none of {told} is a node of a Redis Cluster; allowed of one server: redis://; nothing was written",
                mode="standalone",
            )
        if isinstance(error, redis.AuthenticationError):
            return StoreUnavailable(
                f"the cluster's nodes do not let us in ({error}): check the user and password of its URL"
            )
        return StoreUnavailable(
            f"no node of the cluster answers ({told}: {error}); {AGAIN}", retry_after=1, not_done=True
        )

    def _asker(self, place: ServerPlace) -> redis.Redis:
        """A client that waits for no answer for long."""
        return self._one_of(self._askers, place, self._asking)

    def _node(self, place: ServerPlace) -> ClusterNode:
        return ClusterNode(str(place), self._one_of(self._clients, place, self._options), place)

    def _one_of(self, some: dict[str, redis.Redis], place: ServerPlace, options: dict[str, Any]) -> redis.Redis:
        if (found := some.get(name := str(place))) is None:
            with self._made:
                found = some.get(name) or some.setdefault(name, redis.Redis(place.host, place.port, **options))
        return found


def _again(error: StoreUnavailable) -> StoreUnavailable:
    """The same, to be raised by another thread too."""
    return StoreUnavailable(error.message, not_done=error.not_done, **error.context)


_GONE = frozenset({"fail", "noaddr"})
"""Flags of a node that the others take for gone."""


class KnownNode(NamedTuple):
    """One node, as another one has it."""

    name: str
    """host:port."""
    node_id: str
    follows: str
    """Id of the primary whose replica it is; "" of a primary."""
    slots: int
    gone: bool


def known_nodes(wire: Wire) -> list[KnownNode]:
    """All nodes, by name, as the first has it that answers; none where the store lies on one server. Raises StoreError."""
    if not wire.many:
        return []
    servers = wire.servers()
    for at, (_, server) in enumerate(servers):
        try:
            told = server.call("CLUSTER", "NODES").decode("utf-8", "replace")
        except StoreUnavailable:
            if at + 1 < len(servers):
                continue
            raise
        return sorted(read_nodes(told))
    return []


def read_nodes(told: str) -> list[KnownNode]:
    """The lines that CLUSTER NODES gives; one that shakes hands still is no node yet."""
    found = []
    for line in filter(None, told.splitlines()):
        node_id, address, flags, follows, _, _, _, _, *slots = line.split()
        known = set(flags.split(","))
        if "handshake" in known:
            continue
        name = address.partition(",")[0].partition("@")[0]
        many = sum(map(_slots_in, slots))
        found.append(KnownNode(name, node_id, "" if follows == "-" else follows, many, bool(known & _GONE)))
    return found


def _slots_in(told: str) -> int:
    """How many a range holds; none of a slot that is on its way."""
    if told.startswith("["):
        return 0
    first, _, last = told.partition("-")
    return int(last or first) - int(first) + 1


class OtherNode(NamedTuple):
    """A node that the commands of a store do not reach, whose memory and files hold what it held all the same."""

    name: str
    what: str
    """What it is, in words."""
    primary: str
    """The name of the node that it follows; "" of one that follows none, or an unknown one."""


def others(nodes: Sequence[KnownNode]) -> list[OtherNode]:
    """All nodes that hold no slots, and those that are gone."""
    names = {one.node_id: one.name for one in nodes}
    found = []
    for one in nodes:
        primary = names.get(one.follows, "")
        if one.gone:
            found.append(OtherNode(one.name, "a node that is gone", primary))
        elif one.follows:
            found.append(OtherNode(one.name, f"a replica of {primary or 'an unknown node'}", primary))
        elif not one.slots:
            found.append(OtherNode(one.name, "a node without slots, which may have had some", ""))
    return found


def moving_slots(server: Wire) -> int:
    """How many slots are on their way away from a node, as it says itself; the answer of the wire to that node alone."""
    told = server.call("CLUSTER", "NODES").decode("utf-8", "replace")
    mine = next((line for line in told.splitlines() if "myself" in line), "")
    return mine.count("->-")
