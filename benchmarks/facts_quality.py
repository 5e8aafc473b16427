"""How much extraction by rules takes from conversations, and how much of the facts that somebody marked it catches.

Marks are JSON Lines in `marked.jsonl` of a set: `{"conversation", "turn_id", "subject": [...], "classes": [...], "words": [...]}`.
`subject` is `self` or a word that the memory has; `classes` are categories that fit; the memory has at least one of `words`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson

from benchmarks.dataset import AFTER, TURNS, Conversation, read_conversations, read_lines
from benchmarks.everyday import words
from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import Naming
from engramlog_server.events.errors import InputError
from engramlog_server.projections.language.extraction.chinese import one_of_ours
from engramlog_server.projections.language.extraction.english_rules import one_of_mine
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.lexicon import simplified
from engramlog_server.projections.lifecycle.extraction import turns_heard
from engramlog_server.projections.lifecycle.judge.corrections import judge
from engramlog_server.projections.lifecycle.judge.statements import Verdict

MARKS, CHATS, READ = "marked.jsonl", "chats.jsonl", "read.tsv"
LEAST = 0.6
"""Share of a fact's content words that statements of its turn have if the fact is found."""
_NOT_CONTENT = frozenset("user users his her their they them himself herself 用 户 的 了 是 在 有 和 自 己".split())
_SUFFIX = re.compile(r" \(said on [^)]*\)$|（[^）]*说）$")
FIELDS = {"conversation": str, "turn_id": str, "subject": list, "classes": list, "words": list}


class ReadTurn(NamedTuple):
    """A turn of a person and what extraction made of it."""

    turn: TurnText
    verdicts: Sequence[Verdict]

    @property
    def memories(self) -> list[str]:
        """Contents of the memories made from it."""
        return [one.statement.content for one in self.verdicts if _creates(one)]


def evaluate_facts(folder: Path) -> dict[str, Any]:
    """Turns of people, memories per 100 of them; with marks their recall and the ones missed. Raises InputError."""
    turns = {
        (name, one.turn.turn_id): one
        for name, conversation in read_conversations(folder).items()
        for one in extracted(name, conversation)
    }
    memories = sum(len(one.memories) for one in turns.values())
    answer: dict[str, Any] = {"turns": len(turns), "memories": memories}
    answer["per 100 turns"] = 100 * memories / len(turns) if turns else 0.0
    if not (folder / MARKS).exists():
        return answer
    missed, marks = [], list(_marks(folder / MARKS))
    for mark in marks:
        turn = turns.get((mark["conversation"], mark["turn_id"]))
        if turn is None:
            raise InputError(f"{folder / MARKS}: no person said turn {mark['turn_id']!r} of {mark['conversation']!r}")
        if not any(_fits(turn.turn, verdict, mark) for verdict in turn.verdicts):
            missed.append({**mark, "text": turn.turn.text, "made": turn.memories})
    recall = 1 - len(missed) / len(marks) if marks else 0.0
    return answer | {"marked": len(marks), "recall": recall, "missed": missed}


def evaluate_chats(folder: Path) -> dict[str, Any]:
    """Facts and what is no fact in `chats.jsonl` (see `benchmarks/data/everyday/README.md`), found and kept in statements.

    A fact is found if one statement of its turn has 60 % of its content words, or all statements of the turn together; what is no
    fact is kept if one has. The facts name things by what other turns said, so that even whole turns do not find all (`in turns`).

    `read.tsv` tells what a person found by reading the statements, a line each: `right` or what is wrong, a tab, the statement.
    Those in it count as `read`, and `right`; `kept` lists all statements with what it tells.
    """
    chats = [row for _, row in read_lines(folder / CHATS)]
    judged, listed = _read_by_a_person(folder / READ), list[dict[str, str]]()
    figures: dict[str, int] = defaultdict(int)
    missed = []
    for chat, turns in _read_chats(chats).items():
        for turn_id, turn in turns.items():
            kept = [
                one.statement.content
                for one in turn.verdicts
                if one.operation != "SKIP" and one.statement.asserted and one.statement.kind != "question"
            ]
            figures["statements"] += len(kept)
            for one in kept:
                told = judged.get(one, "unread")
                figures["read"] += told != "unread"
                figures["right"] += told == "right"
                listed.append({"turn": turn_id, "read as": told, "statement": one})
            for fact in (one["text"] for one in chat_of(chats, chat)["facts"] if one["turn"] == turn_id):
                shares = [_share(fact, one) for one in kept]
                figures["facts"] += 1
                figures["in one statement"] += any(share >= LEAST for share in shares)
                figures["found"] += (found := _share(fact, " ".join(kept)) >= LEAST)
                figures["in turns"] += _share(fact, turn.turn.text) >= LEAST
                if not found:
                    missed.append({"text": turn.turn.text, "fact": fact, "made": kept})
            for other in (one["text"] for one in chat_of(chats, chat)["not_facts"] if one["turn"] == turn_id):
                figures["not facts"] += 1
                figures["not facts kept"] += any(_share(other, one) >= LEAST for one in kept)
    return {**figures, "missed": missed, "kept": listed}


def _read_by_a_person(path: Path) -> dict[str, str]:
    """What a person told of each statement of a set: `right`, or what is wrong with it."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {statement: told for told, _, statement in (line.partition("\t") for line in lines)}


def chat_of(chats: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """The chat of a name."""
    return next(one for one in chats if one["chat"] == name)


def _read_chats(chats: Sequence[dict[str, Any]]) -> dict[str, dict[str, ReadTurn]]:
    with TemporaryDirectory() as folder:
        lines = [
            orjson.dumps(
                {
                    "conversation": chat["chat"],
                    "session": turn["session_id"],
                    "turn_id": turn["turn_id"],
                    "speaker": turn["speaker"],
                    "text": turn["text"],
                    "occurred_at": f"{turn['occurred_at']}Z",
                }
            )
            for chat in chats
            for turn in chat["turns"]
        ]
        (Path(folder) / TURNS).write_bytes(b"\n".join(lines))
        conversations = read_conversations(Path(folder))
    return {
        name: {one.turn.turn_id: one for one in extracted(name, conversation)}
        for name, conversation in conversations.items()
    }


def _share(fact: str, text: str) -> float:
    """The share of a fact's content words that a text has."""
    want, have = _content_words(fact), _content_words(text)
    return len(want & have) / len(want)


def _content_words(text: str) -> set[str]:
    told = words(simplified(_SUFFIX.sub("", text)))
    return {re.sub(r"(?<=\w{3})(?:ing|ies|ed|es|s)$", "", word) for word in told if word not in _NOT_CONTENT}


def extracted(name: str, conversation: Conversation) -> list[ReadTurn]:
    """What the rules make of each turn that a person said."""
    view = conversation.view
    view.naming = Naming(name, sha256(name.encode()).digest())
    heard = turns_heard(view)
    by_turn = defaultdict(list)
    for verdict in judge(heard, view, conversation.last + AFTER):
        by_turn[verdict.turn_id].append(verdict)
    return [ReadTurn(one.turn, by_turn[one.turn.turn_id]) for one in heard]


def _creates(verdict: Verdict) -> bool:
    made = any(isinstance(decision.data, MemoryCreated) for decision in verdict.decisions)
    return made and verdict.statement.kind != "question"


def _fits(turn: TurnText, verdict: Verdict, mark: dict[str, Any]) -> bool:
    """A mark is caught by an asserted statement about its subject, of its classes, with one of its words; a note is a copy."""
    statement, content = verdict.statement, verdict.statement.content.casefold()
    return (
        verdict.operation != "SKIP"
        and statement.asserted
        and statement.kind not in ("note", "question")
        and statement.category in mark["classes"]
        and any(word.casefold() in content for word in mark["words"])
        and any(_is_about(turn, statement.content, subject) for subject in mark["subject"])
    )


def _is_about(turn: TurnText, content: str, subject: str) -> bool:
    if subject != "self":
        return subject.casefold() in content.casefold()
    return not any(
        re.match(rf"(?:[^,，]{{1,40}}[,，] ?)?{re.escape(name)}(?:'s {one_of_mine()}|的?{one_of_ours()})", content)
        for name in ((turn.name,) if turn.name else ("User", "用户"))
    )


def _marks(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, row in read_lines(path):
        for name, kind in FIELDS.items():
            if not isinstance(row.get(name), kind) or not row[name]:
                raise InputError(f"{path} line {number}, {name}: got {row.get(name)!r}; allowed: a {kind.__name__}")
        rows.append(row)
    return rows
