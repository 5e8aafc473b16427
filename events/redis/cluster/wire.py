"""A wire to all nodes of a cluster behind the face of one: each command goes to the node that holds its key.

What cannot have been carried out (a slot that lies elsewhere, that is being moved, that nobody serves, a node that cannot be
reached) is sent again for as long as `patience` says; whatever was sent and not answered is told, as by a wire to one server.
`generation` grows with every connection that is lost and every slot that lies elsewhere than before: what was remembered of either
may be another history.

`ClusterClient` is what redis-py's client of one server is, for whoever asks of a key without a wire of his own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import Any, TypeVar

import redis
from redis.exceptions import ClusterDownError, MovedError

from engramlog_server.events.encryption.seals import Seals
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.address import StoreAddress
from engramlog_server.events.redis.cluster.routing import (
    NOT_DONE,
    UNKNOWN,
    Fan,
    LostAnswer,
    NodeLink,
    Owed,
    Part,
    ReadMany,
    Retries,
    SentGroup,
    SlotLeft,
    as_key,
    cut,
    grouped,
    is_lost,
    is_on_its_way,
    key_needed,
    key_of_packed,
    lost_of,
    may_pass,
    merged,
    not_done,
    poll_seconds,
    read_many,
    slot_of,
    spread,
    surely_not,
    told_of,
    word,
)
from engramlog_server.events.redis.cluster.slot_map import ClusterNode, SlotMap
from engramlog_server.events.redis.wire import (
    AGAIN,
    READS,
    Argument,
    Script,
    ServerWire,
    StoreClient,
    Wire,
    WirePool,
    as_store_error,
    forgotten,
    refusal_code,
)

_T = TypeVar("_T")
HANGS_SECONDS = 1.0
"""After so long a silence it is asked whether a node is still the one."""


class ClusterWire(Wire):
    """Not for two threads at once, as every wire."""

    many = True

    def __init__(self, client: ClusterClient) -> None:
        self.seals = client.seals
        self.patience, self.answer_seconds = client.patience, client.timeout
        self.cluster = client.slots
        """The nodes of the Cluster."""
        self._links: dict[str, NodeLink] = {}
        self._at: dict[int, str] = {}
        """By slot the node that it was used on last: where that changes, what is remembered may be of another history."""
        self._scripts: dict[str, Script] = {}
        """What every node is to know once it is connected."""
        self._owed: deque[Owed] = deque()
        self.generation = 1

    @property
    def is_open(self) -> bool:
        """Whether any node is connected in this generation."""
        return bool(self._links)

    def connect(self) -> None:
        """Know the cluster's nodes; each is connected once something is sent to it. Raises StoreUnavailable."""
        self.cluster.know()

    def close(self) -> None:
        """Drop all connections."""
        links, self._links = self._links, {}
        self._at.clear()
        self._owed.clear()
        self.generation += bool(links)
        for link in links.values():
            link.close()

    def refresh(self) -> None:
        """Drop connections that were cut while they were idle."""
        for name, link in list(self._links.items()):
            link.refresh()
            if not link.is_open:
                self._lose(name, link)

    def node_of(self, key: Argument) -> str:
        """The node that holds a key, host:port. Raises StoreUnavailable."""
        return self.cluster.node_of(slot_of(as_key(key))).name

    def servers(self) -> list[tuple[str, ServerWire]]:
        """Each primary by name and the wire to it. Raises StoreUnavailable where nobody tells the nodes."""
        found: list[tuple[str, ServerWire]] = []
        for node in self.cluster.primaries():
            try:
                found.append((node.name, self._linked(node)))
            except StoreUnavailable as error:
                link = NodeLink(node.client)  # which says so once it is asked, and asks nobody again
                link.failed = error
                found.append((node.name, link))
        return found

    def at(self, key: Argument) -> ServerWire:
        """The wire to the node that holds a key, for a command about that server. Raises StoreUnavailable."""
        return self._patient(lambda: self._link(slot_of(as_key(key)))[1])

    def standing(self, key: Argument) -> object:
        """The connection to the node that holds a key, as far as this wire has one: another after each loss."""
        return self._links.get(self._at.get(slot_of(as_key(key)), ""))

    # What is sent now and answered later: nothing is sent again.

    def send(self, *arguments: Argument) -> None:
        """Send one command; its answer is had by `receive`, in order."""
        many = read_many(arguments)
        if many is None or (len(many.streams) == 1 and many.block_ms is None):
            self._owed.append(self._sent(arguments))
        else:
            self._owed.append(Fan(many, self._ask_all(many)))

    def send_together(self, commands: Sequence[bytes]) -> None:
        """Send packed EVALSHAs, in one write a node."""
        owed = [self._placed(key_of_packed(command)) for command in commands]
        by_link: dict[NodeLink, list[bytes]] = {}
        for one, command in zip(owed, commands, strict=True):
            if isinstance(one, Part):
                by_link.setdefault(one.link, []).append(command)
        self._owed.extend(owed)
        names = {one.link: one.node for one in owed if isinstance(one, Part)}
        for link, some in by_link.items():
            try:
                link.send_together(some)
            except StoreUnavailable as error:
                self._lose(names[link], link, error)

    def receive(self, *, timeout: float | None = None) -> Any:
        """The next answer. Raises StoreUnavailable where its node was lost, `redis.ResponseError` on a refusal."""
        if not self._owed:
            raise cut()
        owed = self._owed.popleft()
        if isinstance(owed, Fan):
            return self._read_all(owed, timeout)
        answer = self._answer(owed, timeout)
        if isinstance(answer, Exception):
            raise answer
        return answer

    # What is sent and answered at once: sent again where it cannot have been carried out.

    def call(self, *arguments: Argument) -> Any:
        """One command and its answer; a refusal becomes a StoreError."""
        try:
            if read_many(arguments) is not None:
                self.send(*arguments)
                return self.receive()
            parts = spread(arguments)
            answer = merged(self.pipeline(parts)) if len(parts) > 1 else self._patient(lambda: self._once(arguments))
            if isinstance(answer, Exception):
                raise answer
        except redis.ResponseError as error:
            raise as_store_error(error) from error
        return answer

    def _once(self, command: Sequence[Argument]) -> Any:
        """One command and its answer; a refusal or a loss raises."""
        answer = self._followed(command, self._answer(self._sent(command)))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pipeline(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """Many commands in one write a node; an answer that is a refusal stands as its `redis.ResponseError`. What stands between
        MULTI and EXEC is of one slot."""
        groups = grouped(commands)
        written = {group.slot for group in groups if group.writes}  # of these a read keeps its place behind a write
        answers: list[Any] = [None] * len(commands)
        turns, again = Retries(self.patience), groups
        while again:
            self._answer_groups(again, commands, answers)
            for group in (one for one in again if one.slot not in written):
                answers[group.numbers[0]] = self._followed(commands[group.numbers[0]], answers[group.numbers[0]])
            again = not_done(groups, answers)
            if not again or not turns.again([answers[number] for group in again for number in group.numbers]):
                break
            self._pause(turns)
        if lost := next((one for one in answers if isinstance(one, StoreUnavailable)), None):
            raise lost
        return answers

    def load(self, script: Script) -> None:
        """Have every node know a script once it is connected. Raises StoreError."""
        self._scripts[script.sha] = script
        self._on_links(lambda link: link.load(script))

    def load_again(self, script: Script) -> None:
        """Load a script that a node did not know any more."""
        self._scripts[script.sha] = script
        self._on_links(lambda link: link.load_again(script))

    def evalsha(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> list[Argument]:
        """The command that runs a script, which is loaded on the node of its keys."""
        name, link = self._link(slot_of(as_key(keys[0])))
        self._told_by(name, link, lambda: link.load(script))
        return ["EVALSHA", script.sha, len(keys), *keys, *arguments]

    def run(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> Any:
        """Run a script and give its answer; a refusal becomes a StoreError."""

        def once() -> Any:
            for _ in range(2):
                answer = self._answer(self._sent(self.evalsha(script, keys, arguments)))
                if not isinstance(answer, Exception):
                    return answer
                if not isinstance(answer, redis.ResponseError) or refusal_code(answer) != "NOSCRIPT":
                    raise answer
                self.load_again(script)
            raise forgotten(script)

        try:
            return self._patient(once)
        except redis.ResponseError as error:
            raise as_store_error(error) from error

    def about(self, keys: Sequence[Argument], commands: Sequence[Sequence[Argument]]) -> list[list[Any]]:
        """For each key what its node answers to commands about all that was written down this wire; nothing of one that was
        lost."""
        names = [self._at.get(slot_of(as_key(key)), "") for key in keys]
        asked: dict[str, list[Part | LostAnswer]] = {}
        for name in dict.fromkeys(names):
            if (link := self._links.get(name)) is not None:
                asked[name] = [self._sent_on(Part(name, link), command) for command in commands]
        told = {name: [self._answer(one) for one in owed] for name, owed in asked.items()}
        return [[] if is_lost(told.get(name, ())) else told.get(name, []) for name in names]

    # How it is done.

    def _link(self, slot: int) -> tuple[str, NodeLink]:
        """The node of a slot and a connection to it. Raises StoreUnavailable, with nothing sent."""
        node = self.cluster.node_of(slot)
        before = self._at.get(slot)
        if before is not None and before != node.name:
            del self._at[slot]  # of others the same is told once they are used
            self.generation += 1
            raise SlotLeft(
                f"slot {slot} of the cluster lies on {node.name} now, and no more on {before}; {AGAIN}",
                retry_after=1,
                not_done=True,
                slot=slot,
            )
        link = self._linked(node)
        self._at[slot] = node.name
        return node.name, link

    def _linked(self, node: ClusterNode) -> NodeLink:
        """A connection to a node. Raises StoreUnavailable, with nothing sent."""
        link = self._links.get(node.name)
        if link is not None and link.is_open:
            return link
        if link is not None:  # it broke while somebody asked about the server
            self._lose(node.name, link)
        link = NodeLink(node.client)
        link.seals = self.seals
        try:
            self.cluster.look(node)
            link.connect()
            for script in self._scripts.values():
                link.load(script)
        except StoreUnavailable as error:
            link.close()
            self.cluster.refresh(node.name)
            raise told_of(
                node.name, error, not_done=not isinstance(error.__cause__, redis.AuthenticationError)
            ) from error
        self._links[node.name] = link
        return link

    def _lose(self, name: str, link: NodeLink, error: StoreUnavailable | None = None) -> None:
        """Drop a node's connection; what it owes never comes."""
        link.close()
        if self._links.get(name) is not link:
            return
        del self._links[name]
        self.generation += 1
        lost = told_of(name, error or cut())
        self._owed = deque(lost_of(one, link, lost) for one in self._owed)
        self.cluster.refresh(name)

    def _told_by(self, name: str, link: NodeLink, work: Callable[[], _T]) -> _T:
        """Do something on a link. Raises what that raises; a loss with the node's name."""
        try:
            return work()
        except StoreUnavailable as error:
            self._lose(name, link, error)
            raise told_of(name, error) from error

    def _on_links(self, work: Callable[[NodeLink], None]) -> None:
        for name, link in list(self._links.items()):
            try:
                work(link)
            except StoreUnavailable as error:
                self._lose(name, link, error)

    def _placed(self, key: bytes) -> Part | LostAnswer:
        slot = slot_of(key)
        try:
            return Part(*self._link(slot), slot)
        except StoreUnavailable as error:
            return LostAnswer(error)

    def _sent(self, command: Sequence[Argument]) -> Part | LostAnswer:
        placed = self._placed(key_needed(command))
        return placed if isinstance(placed, LostAnswer) else self._sent_on(placed, command)

    def _sent_on(self, part: Part, command: Sequence[Argument]) -> Part | LostAnswer:
        try:
            part.link.send(*command)
        except StoreUnavailable as error:
            self._lose(part.node, part.link, error)
            return LostAnswer(told_of(part.node, error))
        return part

    def _answer(self, owed: Part | LostAnswer, timeout: float | None = None) -> Any:
        """What a node answers; a refusal or a loss as its error."""
        if isinstance(owed, LostAnswer):
            return owed.error
        if self._links.get(owed.node) is not owed.link:
            return told_of(owed.node, cut())
        try:
            self._await(owed, self.answer_seconds if timeout is None else timeout)
            return owed.link.receive()
        except redis.ResponseError as error:
            self._heard(error, owed.node, owed.slot)
            return error
        except StoreUnavailable as error:
            self._lose(owed.node, owed.link, error)
            return told_of(owed.node, error)

    def _followed(self, command: Sequence[Argument], answer: Any) -> Any:
        """The answer to a read; where its key left with a slot that is being moved, of the node that has it by now."""
        if not is_on_its_way(answer) or word(command[0]) not in READS or len(spread(command)) > 1:
            return answer
        node = self.cluster.asked(answer)
        if node is None:
            return answer
        try:
            link = self._linked(node)
        except StoreUnavailable:
            return answer
        owed = [self._sent_on(Part(node.name, link, answer.slot_id), one) for one in (["ASKING"], command)]
        found = [self._answer(one) for one in owed][-1]
        return answer if surely_not(found) or isinstance(found, StoreUnavailable) else found

    def _await(self, owed: Part, seconds: float) -> None:
        """Wait until an answer begins to come. Raises StoreUnavailable where none does, or once the node is no primary any more:
        one that hangs is replaced long before a time-out."""
        end = monotonic() + seconds
        while not owed.link.answers_within(min(HANGS_SECONDS, max(end - monotonic(), 0.0))):
            self.cluster.refresh(owed.node)
            if not self.cluster.is_primary(owed.node):
                raise StoreUnavailable(f"it does not answer, and another took its place; {UNKNOWN}", retry_after=1)
            if monotonic() >= end:
                raise StoreUnavailable(f"Redis did not answer in time ({seconds:g} s); {UNKNOWN}", retry_after=1)

    def _heard(self, error: redis.ResponseError, node: str, slot: int | None) -> None:
        """Take in what a refusal tells of the cluster, and have it say what it is about (`as_store_error`)."""
        if isinstance(error, NOT_DONE):
            vars(error)["about"] = {"node": node} if isinstance(error, ClusterDownError) else {"slot": slot}
        if isinstance(error, MovedError):
            self.cluster.moved(error)
        elif isinstance(error, ClusterDownError):
            self.cluster.refresh()

    def _patient(self, once: Callable[[], _T]) -> _T:
        """Do it, and again while it cannot be carried out. Raises `redis.ResponseError` or StoreUnavailable."""
        turns = Retries(self.patience)
        while True:
            try:
                return once()
            except (*NOT_DONE, StoreUnavailable) as error:
                if not surely_not(error) or not turns.again([error]):
                    raise
            self._pause(turns)

    def _pause(self, turns: Retries) -> None:
        if turns.pause:
            sleep(turns.pause)
            self.cluster.refresh()

    def _answer_groups(
        self, groups: Sequence[SentGroup], commands: Sequence[Sequence[Argument]], answers: list[Any]
    ) -> None:
        """All answers to these; a refusal or a loss as its error. What stands between MULTI and EXEC goes down one link."""
        asked: list[tuple[int, list[Part | LostAnswer]]] = []
        by_link: dict[NodeLink, list[Sequence[Argument]]] = {}
        names: dict[NodeLink, str] = {}
        for group in groups:
            one = self._placed(group.key) if group.key is not None else None
            for number in group.numbers:
                parts = (
                    [(one, commands[number])]
                    if one is not None
                    else [(self._placed(key_needed(part)), part) for part in spread(commands[number])]
                )
                for placed, command in parts:
                    if isinstance(placed, Part):
                        by_link.setdefault(placed.link, []).append(command)
                        names[placed.link] = placed.node
                asked.append((number, [placed for placed, _ in parts]))
        for link, some in by_link.items():
            try:
                link.send_all(some)
            except StoreUnavailable as error:
                self._lose(names[link], link, error)
        for number, owed in asked:
            answers[number] = merged([self._answer(one) for one in owed])

    def _ask_all(self, many: ReadMany) -> list[Part | LostAnswer]:
        return [self._sent(["XREAD", *many.options, "STREAMS", stream, after]) for stream, after in many.streams]

    def _read_all(self, fan: Fan, timeout: float | None) -> list[Any] | None:
        """What there is on any of these streams; waits, by looking, until there is something or the time is over.

        One that cannot be read keeps no other from being told; it raises once there is nothing to tell, after `patience`.
        """
        pause = poll_seconds(len(fan.many.streams))
        while True:
            answers = [self._answer(owed, timeout) for owed in fan.parts]
            if found := [one for answer in answers if not isinstance(answer, Exception) for one in answer or ()]:
                return found
            wrong = next((one for one in answers if isinstance(one, Exception)), None)
            now = monotonic()
            if wrong is not None and (self._owed or not may_pass(wrong) or now >= fan.began + self.patience):
                raise wrong
            left = 0.0 if self._owed else (fan.until if wrong is None else fan.began + self.patience) - now
            if left <= 0:
                return None
            sleep(min(pause, left))
            fan.parts = self._ask_all(fan.many)


PATIENCE_SECONDS = 5.0
"""How long a question waits for what cannot be carried out yet: a failover takes 4 to 5 s, most moves of a slot less."""

DIAL_SECONDS = 2.0
"""How long a node may take to let us in, or to go on with an answer: one that hangs must not keep the others waiting."""


class ClusterClient(StoreClient):
    """Holds the map of the cluster, one for all wires. A command about a server, which names none, is refused."""

    slots: SlotMap
    patience: float
    timeout: float
    """Seconds to wait for an answer."""
    _beside: WirePool

    def open_wire(self) -> Wire:
        """See `StoreClient`."""
        return ClusterWire(self)

    @classmethod
    def at(cls, address: StoreAddress, seals: Seals, options: dict[str, Any]) -> ClusterClient:
        """A client for the nodes of an address; nothing is connected yet. Raises ValueError for options that there are not."""
        first = address.places[0]
        each = {**options, **address.options, **({"ssl": True} if address.tls else {})}
        each.pop("db", None)
        timeout = float(each["socket_timeout"])
        each["socket_timeout"] = each["socket_connect_timeout"] = min(timeout, DIAL_SECONDS)
        try:
            found = cls(host=first.host, port=first.port, **each)
        except TypeError as error:  # an option that redis-py does not know, by its name
            raise ValueError(f"an option in the URL's query that there is: {error}") from None
        found.seals = seals
        found.slots = SlotMap(address.places, each)
        found.patience, found.timeout = PATIENCE_SECONDS, timeout
        found._beside = WirePool(found)
        seals.read_check = found.read_check
        return found

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send a command to the node that holds its key. Raises StoreError, and ValueError for one about a server."""
        command = [*str(args[0]).split(), *args[1:]]  # redis-py writes CONFIG GET as one word
        with self._beside.wire() as wire:
            answer = wire.pipeline([command])[0]
        if isinstance(answer, redis.ResponseError):
            raise answer
        name = str(args[0])
        options.pop("keys", None)  # for a cache that is not used
        if name in self.response_callbacks:
            return self.response_callbacks[name](answer, **options)
        return answer

    def pipeline(self, *_: Any, **__: Any) -> Any:
        """Refused, with TypeError."""
        raise TypeError("a cluster's client has no pipeline: what goes together goes down a wire")

    def close(self) -> None:
        """Close every connection."""
        self._beside.close()
        self.slots.close()
        super().close()
