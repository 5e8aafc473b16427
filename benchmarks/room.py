"""Bytes an event takes in Redis: short talk, everything folded and embedded, against the same store empty."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.texts import english
from events.text.embedder_names import USE
from ops.settings import Settings
from ops.wiring import open_application
from projections.decide.remembering import NewTurn

OWNER = "ada"
TURNS, AT_ONCE, SESSION = 1_000, 50, 20
LEAST_LETTERS, MOST_LETTERS = 50, 72
_KIND = re.compile(rb"\{[^}]*\}:(?:b\d+:|\d+:)?([a-z_]+)")


def measure_room() -> dict[str, list[dict[str, Any]]]:
    """Figures of the store, then bytes an event by kind of key."""
    with TemporaryDirectory(prefix="engramlog-room-") as folder:
        settings = Settings(data=Path(folder) / "data", embedder=USE)
        with open_application(settings) as application:
            return _measured(application)


def _measured(application: Any) -> dict[str, list[dict[str, Any]]]:
    client = application._store.client
    empty, keys = int(client.info("memory")["used_memory"]), _by_kind(client)
    texts = short_talk(TURNS)
    for start in range(0, TURNS, AT_ONCE):
        turns = [NewTurn("user", text) for text in texts[start : start + AT_ONCE]]
        application.rememberer.add_turns(OWNER, turns, session=f"s{start // SESSION}")
    application.close()  # extraction of the last turns ends
    application.settle()
    embedded = application.embeddings.embed(OWNER)
    events = sum(application.log.head(partition) for partition in range(application.log.partitions))
    taken = int(client.info("memory")["used_memory"]) - empty
    kinds = _by_kind(client) - keys
    figures = {
        "turns": TURNS,
        "letters": round(sum(map(len, texts)) / TURNS),
        "events": events,
        "vectors": embedded["embedded"] + embedded["already"],
        "bytes an event": round(taken / events),
        "bytes a turn": round(taken / TURNS),
    }
    table = [{"keys": kind, "bytes an event": round(size / events)} for kind, size in kinds.most_common()]
    rest = taken - kinds.total()
    return {"room": [figures], "account": [*table, {"keys": "(outside keys)", "bytes an event": round(rest / events)}]}


def short_talk(turns: int) -> list[str]:
    """So many sentences of about 60 letters."""
    chance, found = Random(7), list[str]()
    while len(found) < turns:
        text = english(chance)
        if LEAST_LETTERS <= len(text) <= MOST_LETTERS:
            found.append(text)
    return found


def _by_kind(client: Any) -> Counter[str]:
    found = Counter[str]()
    for key in client.scan_iter(count=1_000):
        kind = _KIND.match(key)
        found[kind[1].decode() if kind else key.decode()] += int(client.memory_usage(key, samples=0) or 0)
    return found
