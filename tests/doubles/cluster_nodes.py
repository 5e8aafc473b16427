"""Nodes of a cluster that answer what a test says: sockets on loopback that speak RESP, to be cut, silent, or to lie."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, Self

import hiredis

from engramlog_server.events.keys import Seals
from engramlog_server.events.redis.address import StoreAddress, read_address
from engramlog_server.events.redis.cluster import ClusterClient, ClusterWire, slot_of
from engramlog_server.events.redis.wire import open_wire

HOST = "127.0.0.1"
SLOTS = 16_384
OK = b"+OK\r\n"
CUT = b"cut"
"""The connection is closed instead of an answer."""
SILENCE = b"silence"
"""No answer, and none to what follows on this connection."""
HALF = b"$1000\r\nnot all of it"
"""The beginning of an answer; then nothing."""
Answer = bytes | Callable[[list[bytes]], bytes]


def refusal(text: str) -> bytes:
    """An error."""
    return f"-{text}\r\n".encode()


def resp(value: Any) -> bytes:
    """A value as Redis writes it: None, int, bytes, text, or a sequence of these."""
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"$%d\r\n%s\r\n" % (len(value), value)
    return b"*%d\r\n" % len(value) + b"".join(map(resp, value))


class FakeNode:
    """One node. `answers`: what it says to the next commands of a store, in their order; OK once there is none left."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster
        self._listening = socket.create_server((HOST, 0))
        self.port = int(self._listening.getsockname()[1])
        self.answers: deque[Answer] = deque()
        self.seen: list[list[str]] = []
        """The commands of a store, in the order in which they came."""
        self.connections = 0
        self.is_silent = False
        """Whether it takes connections, and answers nothing on any."""
        self.slots_answer: bytes | None = None
        """What it says to CLUSTER SLOTS, where that is not what the cluster has."""
        self._open: list[socket.socket] = []
        self._lock = Lock()
        Thread(target=self._accept, daemon=True).start()

    @property
    def name(self) -> str:
        """host:port."""
        return f"{HOST}:{self.port}"

    def heard(self, *names: str) -> list[list[str]]:
        """What it saw of these commands."""
        return [one for one in self.seen if one[0] in names]

    def kill(self) -> None:
        """Cut all connections, and take no more."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """Cut all connections."""
        with self._lock:
            connections, self._open = self._open, []
        for one in connections:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                self._open.append(connection)
                self.connections += 1
            Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        reader, silent = hiredis.Reader(), False
        with suppress(OSError):
            while data := connection.recv(65_536):
                reader.feed(data)
                while (command := reader.gets()) is not False:
                    answer = SILENCE if silent or self.is_silent else self._answer([*command])
                    if answer == CUT:
                        connection.shutdown(socket.SHUT_RDWR)
                        return
                    silent = silent or answer in (SILENCE, HALF)
                    if answer != SILENCE:
                        connection.sendall(answer)

    def _answer(self, command: list[bytes]) -> bytes:
        name = command[0].upper()
        if name == b"CLIENT" or (name == b"AUTH"):
            return OK
        if name == b"PING":
            return b"+PONG\r\n"
        if name == b"CLUSTER":
            return self.slots_answer or self._cluster.slots_answer()
        if name == b"SCRIPT":
            with self._lock:
                self.seen.append([one.decode() for one in command[:2]])
            return resp("0" * 40)
        with self._lock:
            self.seen.append([one.decode("utf-8", "replace") for one in command])
            answer = self.answers.popleft() if self.answers else OK
        return answer if isinstance(answer, bytes) else answer(command)


class FakeCluster:
    """Nodes that share the slots evenly until a test moves some. `client`: of the product, which waits for `timeout` seconds."""

    def __init__(self, nodes: int = 2, *, timeout: float = 5.0, patience: float = 0.0, password: str = "") -> None:
        self.nodes = [FakeNode(self) for _ in range(nodes)]
        self.ranges = [(SLOTS * i // nodes, SLOTS * (i + 1) // nodes - 1, node) for i, node in enumerate(self.nodes)]
        """First slot, last slot, and whose they are."""
        self.client = ClusterClient.at(self.address(password), Seals(None), self.options(timeout))
        self.client.patience = patience

    def address(self, password: str = "") -> StoreAddress:
        """What leads to the nodes."""
        let_in = f":{password}@" if password else ""
        return read_address(f"redis+cluster://{let_in}{','.join(node.name for node in self.nodes)}")

    @staticmethod
    def options(timeout: float) -> dict[str, Any]:
        """Of each connection, as the product has them."""
        return {"protocol": 2, "decode_responses": False, "socket_timeout": timeout, "socket_connect_timeout": timeout}

    def give(self, node: FakeNode) -> None:
        """All slots are one node's."""
        self.ranges = [(0, SLOTS - 1, node)]

    def slots_answer(self) -> bytes:
        """The answer to CLUSTER SLOTS."""
        return resp([[first, last, [HOST, node.port, "id"]] for first, last, node in self.ranges])

    def close(self) -> None:
        """End all."""
        self.client.close()
        for node in self.nodes:
            node.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def keys_of(ranges: Sequence[tuple[int, int, FakeNode]], slot_of: Callable[[bytes], int], node: FakeNode) -> list[str]:
    """Three keys that lie on a node, each in a slot of its own."""
    mine = [(first, last) for first, last, one in ranges if one is node]
    found: dict[int, str] = {}
    number = 0
    while len(found) < 3:
        slot = slot_of(f"k{number}".encode())
        if any(first <= slot <= last for first, last in mine):
            found.setdefault(slot, f"k{number}")
        number += 1
    return list(found.values())


class Clock:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.pauses: list[float] = []

    def read(self) -> float:
        """Seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Pass at once."""
        self.pauses.append(seconds)
        self.now += max(seconds, 0.000_1)


def wire_to(cluster: FakeCluster, patience: float = 0.0) -> ClusterWire:
    """A wire of its own."""
    found = open_wire(cluster.client)
    assert isinstance(found, ClusterWire)
    found.patience = patience
    return found


def at(cluster: FakeCluster, node: int) -> list[str]:
    """Three keys of a node, in three slots."""
    return keys_of(cluster.ranges, slot_of, cluster.nodes[node])


def moved(key: str, to: FakeNode) -> bytes:
    """That a key lies elsewhere."""
    return refusal(f"MOVED {slot_of(key.encode())} {to.name}")
