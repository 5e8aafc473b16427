"""What a search is measured on: one owner's talks, notes or pages in English and Chinese, and questions that find something."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Literal
from uuid import UUID

from events.envelope import Event, Prepared, micros, prepare
from ops.bench.sample import SEED, STARTS
from ops.bench.texts.sentences import chinese, english
from projections.memory.creating import created

Texts = Literal["talk", "notes", "pages"]
"""talk: a user and an assistant in turn; notes: all one speaker's; pages: a talk in which every answer fills a page."""
OWNER = "asked"
NOW = micros(STARTS) + 40 * 86_400_000_000
TURNS = 40
"""Of a session, which is in one language."""
PAGE_WORDS = 500
PAGE_CHARACTERS = 900


def memories(size: int, texts: Texts, *, owner: str = OWNER) -> list[Prepared]:
    """So many memories, ready to append; every other session is in Chinese."""
    chance, made = Random(f"{SEED} {texts} {owner}"), list[Prepared]()
    for number in range(size):
        session = number // TURNS
        speak = chinese if session % 2 else english
        answers = texts != "notes" and number % 2 == 1
        data = created(
            f"t{number}",
            _page(speak, chance) if answers and texts == "pages" else speak(chance),
            kind="turn",
            source="assistant" if answers else "user",
            confidence=round(0.5 + chance.random() / 2, 2),
            source_turns=(f"turn-{number}",),
        )
        event = Event(
            event_id=str(UUID(int=chance.getrandbits(128), version=4)),
            type="MemoryCreated",
            owner=owner,
            occurred_at=STARTS + timedelta(seconds=17 * number),
            actor="user",
            data=data,
            session_id=f"s-{session}",
        )
        made.append(prepare(event))
    return made


def questions(count: int) -> list[str]:
    """So many questions of about six words, every other one in Chinese."""
    chance = Random(SEED)
    return [chinese(chance)[:12] if n % 2 else " ".join(english(chance).split()[:6]) for n in range(count)]


def _page(speak: Callable[[Random], str], chance: Random) -> str:
    told, size = list[str](), 0
    while size < (PAGE_CHARACTERS if speak is chinese else PAGE_WORDS):
        told.append(speak(chance))
        size += len(told[-1]) if speak is chinese else len(told[-1].split())
    return " ".join(told)
