"""Bytes an event takes in Redis: short talk, everything folded, extracted and embedded, by what holds them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.events import english
from engramlog_server.events.text import USE
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.decide.commands import NewTurn
from engramlog_server.projections.redis.usage import room_by_part

OWNER, WARM = "ada", "warm"
TURNS, AT_ONCE, SESSION = 1_000, 50, 20
LEAST_LETTERS, MOST_LETTERS = 50, 72


def measure_room(turns: int = TURNS) -> dict[str, list[dict[str, Any]]]:
    """Figures without and with extraction and of four times as many turns, then bytes an event by part of the store."""
    tables: dict[str, list[dict[str, Any]]] = {"room": [], "account": []}
    for extraction, size in (("off", turns), ("rules", turns), ("off", 4 * turns)):
        with TemporaryDirectory(prefix="engramlog-room-") as folder:
            settings = Settings(data=Path(folder) / "data", embedder=USE, extraction="off")
            with open_application(settings) as application:
                figures, account = _measured(application, size, extraction)
                tables["room"].append({"extraction": extraction} | figures)
                tables["account"] += [{"extraction": extraction, "turns": size} | row for row in account]
    return tables


def _measured(application: Any, turns: int, extraction: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What all but the first events take: before these, Redis has opened connections and loaded scripts (0.5 MB)."""
    texts = short_talk(turns + SESSION)
    _told(application, WARM, texts[turns:], extraction)
    used, parts, events = _used(application)
    _told(application, OWNER, texts[:turns], extraction)
    coverage = application.embeddings.coverage(OWNER)
    assert coverage["embedded"] == coverage["of"], coverage
    then, parts_then, events_then = _used(application)
    taken, added = then - used, events_then - events
    figures = {
        "turns": turns,
        "letters": round(sum(map(len, texts[:turns])) / turns),
        "events": added,
        "memories": coverage["of"],
        "bytes an event": round(taken / added),
        "bytes a turn": round(taken / turns),
    }
    sizes = {part: parts_then[part] - parts[part] for part in parts}
    sizes["outside keys"] = taken - sum(sizes.values())
    rows = sorted(sizes.items(), key=lambda item: -item[1])
    return figures, [{"part": part, "bytes an event": round(size / added)} for part, size in rows if size]


def _told(application: Any, owner: str, texts: list[str], extraction: str) -> None:
    for start in range(0, len(texts), AT_ONCE):
        turns = [NewTurn("user", text) for text in texts[start : start + AT_ONCE]]
        application.rememberer.add_turns(owner, turns, session=f"s{start // SESSION}")
        if extraction != "off":
            application.extractor.extract(owner, extraction)
    application.settle()
    application.embeddings.embed(owner)


def _used(application: Any) -> tuple[int, dict[str, int], int]:
    """Bytes that Redis uses, bytes by part, events."""
    store = application._store
    with store.wires.wire() as wire:
        parts = room_by_part(wire, store.identity.tags)
    events = sum(application.log.head(partition) for partition in range(application.log.partitions))
    return int(store.client.info("memory")["used_memory"]), parts, events


def short_talk(turns: int) -> list[str]:
    """So many different sentences of about 60 letters."""
    chance, found = Random(7), dict[str, None]()
    while len(found) < turns:
        text = english(chance)
        if LEAST_LETTERS <= len(text) <= MOST_LETTERS:
            found[text] = None
    return list(found)
