"""Lines under *About the user* after chats are imported and extracted, with their turns: a person reads whether they are right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

import orjson

from benchmarks.dataset import TURNS, read_lines
from benchmarks.evaluate import sets_in
from benchmarks.facts_quality import CHATS
from benchmarks.measure import Row
from benchmarks.service import Service, fresh_service
from engramlog import Conflict

MESSAGE = "What do you know about me?"


def profile_lines(data: Path, most: int) -> list[Row]:
    """At most so many lines, spread over all conversations of the sets that a user speaks in; default budget, today."""
    chats = {
        f"{folder.name}/{name}": turns for folder in sets_in(data) for name, turns in _conversations(folder).items()
    }
    with fresh_service() as service:
        found = [_lines(service, number, name, turns) for number, (name, turns) in enumerate(chats.items())]
    total = sum(map(len, found))
    step = max(1.0, total / most)
    spread = [row for rows in found for row in rows]
    return [spread[int(at * step)] for at in range(min(most, total))]


def _conversations(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Turns by conversation, as an import takes them; without conversations that no user speaks in."""
    chats: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if (folder / TURNS).exists():
        for _, row in read_lines(folder / TURNS):
            chats[row["conversation"]].append(row)
    if (folder / CHATS).exists():
        for _, row in read_lines(folder / CHATS):
            for turn in row["turns"]:
                names = {
                    "conversation": row["chat"],
                    "session": turn["session_id"],
                    "occurred_at": f"{turn['occurred_at']}Z",
                }
                chats[row["chat"]].append(turn | names)
    return {name: turns for name, turns in chats.items() if any(turn["speaker"] == "user" for turn in turns)}


def _lines(service: Service, number: int, name: str, turns: list[dict[str, Any]]) -> list[Row]:
    memory = service.memory.of(f"profile-{number}")
    memory.import_chats(b"\n".join(map(orjson.dumps, turns)), shape="lines")
    while True:
        try:
            memory.extract()
            break
        except Conflict:  # the service is reading them
            sleep(0.2)
    texts = {turn["turn_id"]: turn["text"] for turn in turns}
    block = memory.context(MESSAGE, trace=False)
    return [
        {"chat": name, "line": line.text, "turn": " | ".join(_sources(service, number, line.id, texts))}
        for line in block.parts.profile
    ]


def _sources(service: Service, number: int, memory_id: str, texts: dict[str, str]) -> Iterator[str]:
    detail = service.memory.of(f"profile-{number}").get(memory_id, inspect=True)
    for turn in detail.source_turns:
        yield next((text for name, text in texts.items() if turn == name or turn.endswith(f":{name}")), turn)[:400]
