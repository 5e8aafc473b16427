"""A client for a store's URL: of one server, or of the nodes of a Cluster."""

from __future__ import annotations

from typing import Any

from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.retry import Retry

from engramlog_server.events.encryption.key_store import OpenKeyStore
from engramlog_server.events.encryption.seals import MasterKey, Seals
from engramlog_server.events.redis.address import read_address
from engramlog_server.events.redis.wire import StoreClient

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
        from engramlog_server.events.redis.cluster.wire import ClusterClient  # noqa: PLC0415 - stores on one server do not load it

        return ClusterClient.at(address, seals, options)
    options["retry"] = Retry(NoBackoff(), 0)
    return StoreClient.of(url, seals, **options)
