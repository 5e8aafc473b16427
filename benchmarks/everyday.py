"""What a default user gets on everyday statements, requests and chats, measured through the Python client.

The set is in `benchmarks/data/everyday`. The scoring is fixed: change only the calls if the client changes.

`stop_rows` measures where related lines end: what each share of the best score, and each fall, costs and brings on everyday facts
and idle messages. Its blocks have no stable part, so every line that is counted was found for the message.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, NamedTuple

import orjson

from benchmarks.dataset import read_lines
from benchmarks.measure import Row
from benchmarks.service import Service
from engramlog_server.api.application import Application
from engramlog_server.events.errors import InputError
from engramlog_server.events.text import AUTO
from engramlog_server.ops.settings import load_settings, of_its_own
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.prompt import gathering

SET = Path(__file__).parent / "data" / "everyday"
PARTS = ("facts", "tasks", "idle", "updates", "reverse", "same", "chats", "large")
TOGETHER = (PARTS[:3], *((part,) for part in PARTS[3:]))
"""Parts that ask the same memories."""
STOP_WORDS = set(
    "a an the i me my mine we our us you your is am are was were be been to of in on at for and or but so with from by it its this"
    " that as not no do does did has have had will would can could s t m re ve ll d".split()
)
LATIN, HAN = "[a-z0-9à-ÿ]+", "[㐀-鿿]"
BUDGETS = (300, 600, 1_500)
NOISE = {"en": ("beam-en", r"\b(I|I'm|I've|my|me|we|our)\b"), "zh": ("memorybank-zh", "我")}
"""Sets of other talk for the part `large`, and what marks a turn as said in the first person."""
Figures = dict[str, Any]


def words(text: str) -> list[str]:
    """Content tokens: Latin words without stop words, and single Chinese characters."""
    return [word for word in re.findall(f"{LATIN}|{HAN}", text.lower()) if word not in STOP_WORDS]


def tokens(text: str) -> int:
    """An estimate of a language model's tokens."""
    return round(len(re.findall(HAN, text)) + len(re.sub(HAN, "", text)) / 4)


def lines(block: str) -> list[str]:
    """Lines of a block that hold memories: not its fence, and no heading."""
    return [line for line in block.splitlines() if line.strip() and not line.startswith(("<", "["))]


def holds(line: str, fact: str) -> bool:
    """Whether a line has at least 85 % of a fact's content tokens; a truncated line does not."""
    have, want = Counter(words(line)), Counter(words(fact))
    return sum(min(have[word], count) for word, count in want.items()) >= 0.85 * sum(want.values())


def place(block: str, fact: str) -> int | None:
    """Number of the first line of a block that holds a fact."""
    return next((number for number, line in enumerate(lines(block)) if holds(line, fact)), None)


def evaluate_everyday(
    service: Service,
    *,
    folder: Path = SET,
    parts: Sequence[str] = PARTS,
    most: int | None = None,
    sets: Path | None = None,
    wait: float = 0.0,
) -> dict[str, Figures]:
    """The figures of each part, with the CPU of the service and this process.

    `most`: personas, and rows of each other file; `sets`: the folder with the sets of NOISE, without which `large` is left out;
    `wait`: seconds between writing and asking.
    """
    everyday = Everyday(service, folder, most, wait)
    figures: dict[str, Figures] = {}

    def facts() -> dict[str, Figures]:
        return {name: row | everyday.judged(name[-2:]) for name, row in everyday.facts("day-", "facts").items()}

    def large() -> dict[str, Figures]:
        if sets is None or not all((sets / name).is_dir() for name, _ in NOISE.values()):
            return {}
        everyday.add_large(sets)
        return everyday.facts("large-", "large")

    work: dict[str, Callable[[], dict[str, Figures]]] = {
        "facts": facts,
        "tasks": lambda: {"tasks": everyday.tasks()},
        "idle": lambda: {"idle": everyday.idle()},
        "updates": lambda: {"updates": everyday.updates(backwards=False)},
        "reverse": lambda: {"reverse": everyday.updates(backwards=True)},
        "same": lambda: {"both hold": everyday.same()},
        "chats": lambda: {"chats": everyday.chats()},
        "large": large,
    }
    if set(TOGETHER[0]) & set(parts):
        everyday.add_facts()
    for part in parts:
        before = service.cpu()
        for name, row in work[part]().items():
            figures[name] = row | {"CPU s": round(service.cpu() - before, 2)}
    return figures


def run_script(script: Path, service: Service, wait: float) -> dict[str, Figures]:
    """The figures that the set's own script prints as JSON in its last line; it is run once for parts that ask the same memories.

    Raises InputError if it fails.
    """
    figures: dict[str, Figures] = {}
    for parts in TOGETHER:
        before = service.cpu()
        command = [sys.executable, str(script), "--parts", ",".join(parts), "--wait", str(wait)]
        done = subprocess.run(
            command, env={**os.environ, "ENGRAMLOG_DATA": str(service.data)}, stdout=subprocess.PIPE, check=False
        )
        if done.returncode:
            raise InputError(f"script: {script} ended with exit code {done.returncode}")
        rows = orjson.loads(done.stdout.splitlines()[-1])
        rows[list(rows)[-1]]["CPU s"] = round(service.cpu() - before, 1)
        figures |= rows
    return figures


class Fact(NamedTuple):
    """Something a persona says about themselves."""

    id: str
    text: str
    questions: list[str]


class Everyday:
    """The set, added to a service and asked back."""

    def __init__(self, service: Service, folder: Path, most: int | None, wait: float) -> None:
        self._memory, self._folder, self._most, self._wait = service.memory, folder, most, wait
        self._all_facts = [row for _, row in read_lines(folder / "facts.jsonl")]
        personas = list(dict.fromkeys(row["persona"] for row in self._all_facts))
        chosen = personas[:: max(1, len(personas) // most)][:most] if most else personas
        self._personas = {
            name: [Fact(row["id"], row["text"], row["questions"]) for row in self._all_facts if row["persona"] == name]
            for name in chosen
        }
        self._judged: dict[str, Counter[str]] = defaultdict(Counter)
        self._language = {row["persona"]: row["lang"][:2] for row in self._all_facts}

    def _rows(self, name: str, step: int = 1) -> list[dict[str, Any]]:
        return [row for _, row in read_lines(self._folder / f"{name}.jsonl")][::step][: self._most]

    def _block(self, owner: str, text: str, budget: int = 1_500) -> str:
        return self._memory.of(owner).context(text, budget=budget, trace=False).block

    def add_facts(self) -> None:
        """Add every fact by itself; none of them changes another."""
        for persona, facts in self._personas.items():
            for fact in facts:
                added = self._memory.of(f"day-{persona}").add(fact.text)
                count = self._judged[self._language[persona]]
                count["added"] += 1
                count["ended"] += bool(added.ended or added.ended_by)
                count["flagged"] += bool(added.conflicting)
        sleep(self._wait)

    def judged(self, language: str) -> Figures:
        """Shares of the facts that ended or flagged another one when they were added: all of that is wrong."""
        count = self._judged[language]
        return {name: _share(count[name], count["added"]) for name in ("ended", "flagged")}

    def facts(self, prefix: str, name: str) -> dict[str, Figures]:
        """Of questions by language: whether search and the block find their fact.

        `related_...`: of the related lines of a block without a stable part: their tokens, whether the fact is among the first
        three, and the share of them that hold it.
        """
        counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for persona, facts in self._personas.items():
            count = counts[self._language[persona]]
            for fact in facts:
                for question in fact.questions:
                    self._ask(f"{prefix}{persona}", question, fact.text, count)
        return {
            f"{name} {language}": {
                key: value if key == "n" else _share(value, count["n"]) for key, value in count.items()
            }
            for language, count in counts.items()
        }

    def _ask(self, owner: str, question: str, fact: str, count: dict[str, float]) -> None:
        results = self._memory.of(owner).search(question, limit=10, inspect=True).results
        at = next((rank for rank, result in enumerate(results) if holds(result.memory, fact)), 99)
        count["n"] += 1
        for cut in (1, 3, 10):
            count[f"hit{cut}"] += at < cut
        for budget in BUDGETS:
            block = self._block(owner, question, budget)
            count[f"in{budget}"] += place(block, fact) is not None
            count[f"tokens{budget}"] += tokens(block)
        alone = self._memory.of(owner).context(question, budget=BUDGETS[-1], stable_budget=0, trace=False)
        related = [line.text for line in alone.parts.retrieved]
        held = [holds(line, fact) for line in related]
        count["related_tokens"] += sum(map(tokens, related))
        count["related_first3"] += any(held[:3])
        count["related_useful"] += sum(held) / len(held) if held else 0.0

    def tasks(self) -> Figures:
        """Requests that do not ask for a fact but need some."""
        text = {row["id"]: row["text"] for row in self._all_facts}
        tasks = [row for row in self._rows("tasks") if row["persona"] in self._personas]
        whole = got = used = 0
        for task in tasks:
            block = self._block(f"day-{task['persona']}", task["text"])
            held = sum(place(block, text[one]) is not None for one in task["needs"])
            whole, got, used = whole + (held == len(task["needs"])), got + held, used + tokens(block)
        needed = sum(len(task["needs"]) for task in tasks)
        return {
            "n": len(tasks),
            "whole": _share(whole, len(tasks)),
            "share": _share(got, needed),
            "tokens": _mean(used, tasks),
        }

    def idle(self) -> Figures:
        """Messages that need nothing from memory."""
        related = used = beyond = asked = 0
        for row in self._rows("idle"):
            persona = next((one for one in self._personas if self._language[one] == row["lang"][:2]), None)
            if persona is None:
                continue
            context = self._memory.of(f"day-{persona}").context(row["text"], budget=1_500, trace=False)
            related += len(context.parts.retrieved) + len(context.parts.remembered) > 0
            asked, used, beyond = asked + 1, used + tokens(context.block), beyond + tokens(context.turn)
        return {
            "n": asked,
            "any_related": _share(related, asked),
            "tokens": _share(used, asked),
            "tokens_turn": _share(beyond, asked),
        }

    def updates(self, *, backwards: bool) -> Figures:
        """Two statements of which the later one makes the earlier one out of date.

        `backwards`: the newer statement is written first, with its time; what happened later holds.
        """
        first, second = ("new", "old") if backwards else ("old", "new")
        times = {"old": "2026-03-01T09:00:00Z", "new": "2026-09-01T09:00:00Z"} if backwards else {}
        rows, added = self._rows("updates", 3 if backwards else 1), []
        for number, row in enumerate(rows):
            memory = self._memory.of(f"{'reverse' if backwards else 'updates'}-{number}")
            before = memory.add(row[first], **_at(times.get(first)))
            same = [fact["text"] for fact in self._all_facts if fact["lang"][:2] == row["lang"][:2]]
            memory.add_many(same[(7 * number) % 40 :][:15])
            added.append((before, memory.add(row[second], **_at(times.get(second)))))
        sleep(self._wait)
        count: Counter[str] = Counter()
        for number, (row, (before, after)) in enumerate(zip(rows, added, strict=True)):
            owner = f"{'reverse' if backwards else 'updates'}-{number}"
            new, old = (after.id, before.id) if second == "new" else (before.id, after.id)
            found = [one.id for one in self._memory.of(owner).search(row["question"], limit=5, inspect=True).results]
            block = self._block(owner, row["question"])
            at = {which: place(block, row[which]) for which in ("old", "new")}
            flagged = {
                one if isinstance(one, str) else getattr(one, "id", "")
                for one in [*after.ended, *after.conflicting, *(getattr(after, "possible_updates", None) or [])]
            }
            count["current_first_search"] += new in found and (old not in found or found.index(old) > found.index(new))
            count["current_first_block"] += at["new"] is not None and (at["old"] is None or at["old"] > at["new"])
            count["noticed_right_one"] += before.id in flagged
            count["flagged_another"] += bool(flagged - {before.id})
        names = ("current_first_search", "current_first_block", "noticed_right_one", "flagged_another")
        return {"n": len(rows)} | {name: _share(count[name], len(rows)) for name in names}

    def same(self) -> Figures:
        """Two statements on one topic that both hold."""
        rows, ended, flagged, both = self._rows("same_topic"), 0, 0, 0
        for number, row in enumerate(rows):
            memory = self._memory.of(f"same-{number}")
            memory.add(row["a"])
            added = memory.add(row["b"])
            ended, flagged = ended + bool(added.ended), flagged + bool(added.conflicting)
        sleep(self._wait)
        for number, row in enumerate(rows):
            block = self._block(f"same-{number}", row["question"])
            both += place(block, row["a"]) is not None and place(block, row["b"]) is not None
        shares = {"wrongly_ended": ended, "flagged": flagged, "both_in_block": both}
        return {"n": len(rows)} | {name: _share(value, len(rows)) for name, value in shares.items()}

    def chats(self) -> Figures:
        """Dated chats in sessions, and questions about them."""
        chats = self._rows("chats")
        for chat in chats:
            sessions: dict[str, list[Mapping[str, str]]] = defaultdict(list)
            for turn in chat["turns"]:
                sessions[turn["session_id"]].append(turn)
            for session, turns in sessions.items():
                messages = [{"role": turn["speaker"], "content": turn["text"]} for turn in turns]
                at = turns[0]["occurred_at"] + "Z"
                self._memory.of(f"chat-{chat['chat']}").add(messages, session=session, occurred_at=at)
        sleep(self._wait)
        asked = found = used = 0
        for chat in chats:
            for question in chat["questions"]:
                block = self._block(f"chat-{chat['chat']}", question["text"])
                found += "".join(question["current"].lower().split()) in "".join(block.lower().split())
                asked, used = asked + 1, used + tokens(block)
        return {"n": asked, "answer_in_block": _share(found, asked), "tokens": _share(used, asked)}

    def add_large(self, sets: Path) -> None:
        """The facts among 600 turns of other talk."""
        for persona, facts in self._personas.items():
            memory, talk = self._memory.of(f"large-{persona}"), _noise(sets, self._language[persona], 600)
            for number, start in enumerate(range(0, len(talk), 20)):
                at = f"202{5 + number % 2}-{1 + number % 10:02d}-{1 + number % 27:02d}T10:00:00Z"
                memory.add(talk[start : start + 20], session=f"n{number}", occurred_at=at)
            for number, fact in enumerate(facts):
                at = f"202{5 + number % 2}-{1 + (7 * number) % 10:02d}-{1 + (5 * number) % 27:02d}T18:00:00Z"
                memory.add(fact.text, occurred_at=at)
        sleep(self._wait)


def _noise(sets: Path, language: str, most: int) -> list[dict[str, str]]:
    """Turns of other talk without statements in the first person."""
    name, first_person = NOISE[language]
    turns = [
        {"role": "assistant" if row["speaker"] == "assistant" else "user", "content": row["text"][:600]}
        for _, row in read_lines(sets / name / "turns.jsonl")
        if row["speaker"] == "assistant" or not re.search(first_person, row["text"])
    ]
    return turns[:most]


def _at(time: str | None) -> dict[str, Any]:
    return {} if time is None else {"occurred_at": time}


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 3) if whole else None


def _mean(total: float, rows: Sequence[object]) -> int | None:
    return round(total / len(rows)) if rows else None


BUDGET = 600
RULES = (
    *((share, 0.0) for share in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)),
    *((0.15, fall) for fall in (0.3, 0.35, 0.4, 0.5)),
    *((share, 2 * share) for share in (0.2, 0.25)),
)
"""A share of the best line's score, and of the score of the line before."""


def stop_rows() -> list[Row]:
    """For each rule and language: the share of questions whose fact is related, lines, tokens, useful lines, idle messages."""
    facts = [row for _, row in read_lines(SET / "facts.jsonl")]
    idle = [row for _, row in read_lines(SET / "idle.jsonl")]
    with TemporaryDirectory(prefix="engramlog-stop-") as scratch:
        settings = of_its_own(load_settings(), Path(scratch) / "store").model_copy(
            update={"partitions": 1, "embedder": AUTO}
        )
        with open_application(settings) as application:
            for fact in facts:
                application.rememberer.add(fact["persona"], fact["text"])
            return [row for rule in RULES for row in _rows(application, facts, idle, *rule)]


def _rows(
    application: Application,
    facts: list[dict[str, Any]],
    idle: list[dict[str, Any]],
    share: float,
    fall: float,
) -> list[Row]:
    gathering.STOP = (share, fall)
    asked: dict[str, list[tuple[bool, int, int, float]]] = defaultdict(list)
    for number, fact in enumerate(facts):
        lines = _related(application, fact["persona"], fact["questions"][number % 2])
        held = [holds(line, fact["text"]) for line in lines]
        useful = sum(held) / len(held) if held else 0.0
        asked[fact["lang"][:2]].append((any(held), len(lines), sum(map(tokens, lines)), useful))
    rows = []
    for language, found in asked.items():
        persona = next(fact["persona"] for fact in facts if fact["lang"][:2] == language)
        messages = [row["text"] for row in idle if row["lang"][:2] == language]
        names = ("fact related", "lines", "tokens", "useful lines")
        figures = {name: round(fmean(column), 3) for name, column in zip(names, zip(*found, strict=True), strict=True)}
        idle_lines = fmean(len(_related(application, persona, text)) for text in messages)
        rows.append({"share": share, "fall": fall, "language": language, **figures, "idle lines": round(idle_lines, 2)})
    return rows


def _related(application: Application, owner: str, text: str) -> list[str]:
    answer = application.contexts.context(owner, text, budget=BUDGET, stable_budget=0)
    return [line["text"] for line in answer["parts"]["retrieved"]]
