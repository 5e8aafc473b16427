"""A client of a cluster: what redis-py's client of one server is, for whoever asks of a key without a wire of his own."""

from __future__ import annotations

from typing import Any

import redis

from engramlog_server.events.redis.address import StoreAddress
from engramlog_server.events.redis.cluster.slot_map import SlotMap
from engramlog_server.events.redis.cluster.wire import ClusterWire
from engramlog_server.events.redis.wire import StoreClient, Wire, WirePool
from engramlog_server.events.sealing.seals import Seals

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
