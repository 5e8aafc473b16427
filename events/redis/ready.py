"""Whether a Redis of somebody's own can hold a store, asked before anything is read or written: its kind, and whether it loads."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import redis

from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.redis.wire import AGAIN, Wire

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
