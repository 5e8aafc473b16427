"""Own rows of `benchmarks/data/rows`: what a default service puts into the block, and what it lets end.

Every kind first writes all its rows, then asks. A row of the half `measure` was not read while rules were written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean
from time import sleep
from typing import Any, NamedTuple

from benchmarks.dataset import read_lines
from benchmarks.everyday import holds, lines, place
from benchmarks.measure import Row
from benchmarks.service import Service
from engramlog import Memory
from engramlog_server.projections.embedding.encoders import UniversalEncoder

ROWS = Path(__file__).parent / "data" / "rows"
BUDGET, SMALL = 1_500, 300
SAID_AT = "2026-05-04T10:00:00Z"


class Outcome(NamedTuple):
    """How one question or pair went."""

    row: Mapping[str, Any]
    asked: str
    figures: dict[str, float]
    failed: str = ""
    """What was not as it should be."""


Steps = Generator[Outcome | None]
"""Writes, yields None once, then an outcome for each question."""


def evaluate_rows(
    service: Service, kinds: Sequence[str] = (), *, folder: Path = ROWS, wait: float = 0.0
) -> dict[str, Any]:
    """`figures`: means by kind and half with CPU seconds; `failed`: the questions that failed.

    `wait`: seconds between writing and asking, all kinds together.
    """
    kinds = kinds or list(KINDS)
    cpu: dict[str, float] = defaultdict(float)
    steps = {
        kind: KINDS[kind](service.memory, [row for _, row in read_lines(folder / f"{kind}.jsonl")]) for kind in kinds
    }

    def advance(kind: str, work: Callable[[], Any]) -> Any:
        before = service.cpu()
        result = work()
        cpu[kind] += service.cpu() - before
        return result

    for kind, step in steps.items():
        advance(kind, partial(next, step))
    sleep(wait)
    figures: list[Row] = []
    failed: list[Row] = []
    for kind, step in steps.items():
        outcomes = advance(kind, partial(list, step))
        for half in (*sorted({str(one.row["half"]) for one in outcomes}), "all"):
            chosen = [one for one in outcomes if half in ("all", one.row["half"])]
            if not chosen:
                continue
            means = {name: round(fmean(one.figures[name] for one in chosen), 3) for name in chosen[0].figures}
            taken = {"CPU s": round(cpu[kind], 1)} if half == "all" else {}
            figures.append({"rows": kind, "half": half, "n": len(chosen), **means, **taken})
        failed += [
            {"row": one.row["id"], "half": one.row["half"], "asked": one.asked, "failed": one.failed}
            for one in outcomes
            if one.failed
        ]
    return {"figures": figures, "failed": failed}


def _owner(row: Mapping[str, Any]) -> str:
    return f"rows-{row['id']}"


def _say(memory: Memory, owner: str, talk: Sequence[Sequence[str]], session: str) -> list[str]:
    """Record what people say in one session; returns the ids of their turns."""
    messages = [{"role": "user", "name": name, "content": text} for name, text in talk]
    return memory.of(owner).add(messages, session=session, occurred_at=SAID_AT).ids


def _found(memory: Memory, owner: str, text: str, needed: Sequence[str], **terms: Any) -> tuple[dict[str, float], str]:
    """Whether all needed texts are in a block, in a small one, and among related lines alone; and the lines if not."""
    one = memory.of(owner)
    whole = one.context(text, budget=BUDGET, trace=False, **terms)
    small = one.context(text, budget=SMALL, trace=False, **terms)
    alone = one.context(text, budget=BUDGET, stable_budget=0, trace=False, **terms)
    figures = {
        "in the block": float(_all_in(whole.block, needed)),
        f"at {SMALL}": float(_all_in(small.block, needed)),
        "related": float(all(any(holds(line.text, need) for line in alone.parts.retrieved) for need in needed)),
    }
    failed = "" if all(figures.values()) else f"{figures}; related: {[line.text for line in alone.parts.retrieved]}"
    return figures, failed


def _all_in(block: str, needed: Sequence[str]) -> bool:
    return all(place(block, text) is not None for text in needed)


def speakers(memory: Memory, rows: Sequence[Row]) -> Steps:
    """Talk of several people: the line that answers is in the block with its speaker, above the lines of others."""
    for row in rows:
        _say(memory, _owner(row), row["talk"], "group")
    yield None
    for row in rows:
        for asked in row["asked"]:
            name, text = row["talk"][asked["turn"]]
            context = memory.of(_owner(row)).context(asked["text"], budget=BUDGET, messages=0, trace=False)
            block, related = context.block, [line.text for line in context.parts.retrieved]
            shown = [line for line in lines(block) if holds(line, text)]
            figures = {
                "in the block": float(bool(shown)),
                "names the speaker": float(any(name in line for line in shown)),
                "first": float(any(holds(line, text) for line in related[:1])),
            }
            yield Outcome(
                row, asked["text"], figures, "" if figures["names the speaker"] else f"{name}: {text}; {lines(block)}"
            )


def projects(memory: Memory, rows: Sequence[Row]) -> Steps:
    """Memories of projects: what the message needs is in the block, and no memory of a project that it does not name."""
    for row in rows:
        for one in row["memories"]:
            memory.of(_owner(row)).add(one["text"], **({"project": one["project"]} if "project" in one else {}))
    yield None
    for row in rows:
        texts = [one["text"] for one in row["memories"]]
        for asked in row["asked"]:
            context = memory.of(_owner(row)).context(asked["text"], budget=BUDGET, stable_budget=0, trace=False)
            related = [line.text for line in context.parts.retrieved]
            needed = all(any(holds(line, texts[one]) for line in related) for one in asked["needs"])
            others = [line for line in related if any(holds(line, texts[one]) for one in asked["never"])]
            figures = {"related": float(needed), "another project": float(bool(others))}
            failed = "" if needed and not others else f"needed: {needed}; of another project: {others}"
            yield Outcome(row, asked["text"], figures, failed)


def followups(memory: Memory, rows: Sequence[Row]) -> Steps:
    """A short message that only the turns before it explain. Rows of one language share a store."""
    for row in rows:
        memory.of(f"rows-followups-{row['lang']}").add_many(row["memories"])
    yield None
    for row in rows:
        owner = f"rows-followups-{row['lang']}"
        talk = [{"role": role, "content": text} for role, text in row["talk"]]
        memory.of(owner).add(talk, session=row["id"], remember=())
        needed = [row["memories"][one] for one in row["needs"]]
        figures, failed = _found(memory, owner, row["text"], needed, session=row["id"])
        yield Outcome(row, row["text"], figures, failed)


def single(kind: str) -> Callable[[Memory, Sequence[Row]], Steps]:
    """Messages that need one memory each. Rows of one language share a store."""

    def steps(memory: Memory, rows: Sequence[Row]) -> Steps:
        for row in rows:
            memory.of(f"rows-{kind}-{row['lang']}").add(row["memory"])
        yield None
        for row in rows:
            figures, failed = _found(memory, f"rows-{kind}-{row['lang']}", row["text"], [row["memory"]])
            yield Outcome(row, row["text"], figures, failed)

    return steps


def exact(memory: Memory, rows: Sequence[Row]) -> Steps:
    """Precision and recall of the related lines against the exact set that answers."""
    for row in rows:
        for text in row["memories"]:
            memory.of(_owner(row)).add(text)
    yield None
    for row in rows:
        context = memory.of(_owner(row)).context(row["text"], budget=BUDGET, stable_budget=0, trace=False)
        related = [line.text for line in context.parts.retrieved]
        wanted = [row["memories"][one] for one in row["exact"]]
        right = sum(any(holds(line, text) for text in wanted) for line in related)
        figures = {
            "precision": right / len(related) if related else 0.0,
            "recall": sum(any(holds(line, text) for line in related) for text in wanted) / len(wanted),
        }
        yield Outcome(
            row, row["text"], figures, "" if min(figures.values()) >= 0.5 else f"{figures}; related: {related}"
        )


def unsaid(memory: Memory, rows: Sequence[Row]) -> Steps:
    """A hypothetical, quote, joke or guess about a value that holds: nothing ends, by `add` and by reading a chat."""
    added = []
    for row in rows:
        by_add, by_chat = memory.of(f"{_owner(row)}-add"), memory.of(f"{_owner(row)}-chat")
        held, other = by_add.add(row["held"]).ids[0], by_chat.add(row["held"]).ids[0]
        said = by_add.add(row["said"], actor=row["by"], source=row["by"])
        by_chat.add([{"role": row["by"], "content": row["said"]}], session="chat")
        by_chat.extract()
        added.append((held, other, said))
    yield None
    for row, (held, other, said) in zip(rows, added, strict=True):
        states = [
            memory.of(f"{_owner(row)}-add").get(held, inspect=True),
            memory.of(f"{_owner(row)}-chat").get(other, inspect=True),
        ]
        ended = bool(said.ended) or any(one.is_negated for one in states)
        flagged = bool(said.conflicting) or any(one.conflicting for one in states)
        failed = f"{row['kind']}: {row['held']}; ended: {ended}" if ended or flagged else ""
        yield Outcome(row, row["said"], {"ended": float(ended), "flagged": float(flagged)}, failed)


def groups(memory: Memory, rows: Sequence[Row]) -> Steps:
    """Talk of several people about like things: nothing that one says ends what another said; own updates are noticed."""
    turns = []
    for row in rows:
        turns.append(_say(memory, _owner(row), row["talk"], "group"))
        memory.of(_owner(row)).extract()
    yield None
    for row, ids in zip(rows, turns, strict=True):
        speaker = dict(zip(ids, (name for name, _ in row["talk"]), strict=True))
        kept = {one.id: one for one in memory.of(_owner(row)).get_all(mode="debug").memories}
        across, noticed = list[str](), set[str]()
        for one in kept.values():
            others = [kept[other.id] for other in one.conflicting if other.id in kept]
            later = kept.get(one.successor or "")
            for other in [later] if later is not None else []:
                if _speaker(other, speaker) != _speaker(one, speaker):
                    across.append(f"{one.memory} <- {other.memory}")
            for other in [*others, *([later] if later is not None else [])]:
                if _speaker(other, speaker) == _speaker(one, speaker):
                    noticed |= {*one.source_turns, *other.source_turns}
        own = [all(ids[turn] in noticed for turn in pair) for pair in row["updates"]]
        figures = {"ended across people": float(bool(across)), "own update missed": float(not all(own))}
        failed = f"across: {across}; own updates noticed: {own}" if any(figures.values()) else ""
        yield Outcome(row, row["talk"][1][1], figures, failed)


def heavier(memory: Memory, rows: Sequence[Row]) -> Steps:
    """Pairs of equal answers. One of each pair was mentioned three times or used five times. Rows of one language share a store.

    Each pair is asked about twice, so that no wording helps: in a second store the other one is the heavier.
    """
    said = datetime.now(UTC) - timedelta(days=40)
    pairs: dict[tuple[str, int], list[str]] = {}
    for row in rows:
        for which in (0, 1):
            one = memory.of(f"rows-heavier-{row['lang']}-{which}")
            ids = [str(one.add(text, occurred_at=said).id) for text in row["memories"]]
            pairs[row["id"], which] = ids
            for days in (10, 25, 38) if row["by"] == "mentioned" else (10, 18, 26, 33, 38):
                again = one.mention if row["by"] == "mentioned" else one.reinforce
                again(ids[which], occurred_at=said + timedelta(days=days))
    yield None
    for row in rows:
        for which in (0, 1):
            found = memory.of(f"rows-heavier-{row['lang']}-{which}").search(row["text"], trace=False).results
            pair = pairs[row["id"], which]
            order = [one.id for one in found if one.id in pair]
            figures = {
                "heavier first": float(order[:1] == [pair[which]]),
                "pair on top": float({one.id for one in found[:2]} == set(pair)),
            }
            failed = str([(one.score, one.memory) for one in found]) if not figures["heavier first"] else ""
            yield Outcome(row, f"{row['text']} {row['memories'][which]}", figures, failed)


def joined(memory: Memory, rows: Sequence[Row]) -> Steps:
    """Pairs of a group that the job merges, memories that go by that, and pairs near by the default model's cosine.

    A store for each row.
    """
    model, ids = UniversalEncoder(), dict[str, dict[str, str]]()
    for row in rows:
        ids[row["id"]] = {text: str(memory.of(_owner(row)).add(text).id) for text in row["memories"]}
    yield None
    for row in rows:
        memory.of(_owner(row)).cleanup(jobs=["merge"])
        into = {text: memory.of(_owner(row)).get(one, trace=False).merged_into for text, one in ids[row["id"]].items()}
        pairs = list(combinations(row["memories"], 2))
        vectors = {text: one.whole for text, one in zip(row["memories"], model.texts(row["memories"]), strict=True)}
        cosines = [float(vectors[a] @ vectors[b]) for a, b in pairs]
        left = len({one or text for text, one in into.items()})
        figures = {
            "merged": fmean(into[a] is not None and into[a] == into[b] for a, b in pairs),
            "gone": 1 - (left - 1) / (len(into) - 1),
        }
        figures |= {f"cosine {least}": fmean(one >= least for one in cosines) for least in (0.75, 0.85, 0.95)}
        yield Outcome(row, row["memories"][0], figures)


def asked_again(memory: Memory, rows: Sequence[Row]) -> Steps:
    """Groups of three questions, each a turn, proposed as one question asked again: those in other words, none of other things.

    Rows of one language share a store.
    """
    turns = {}
    for row in rows:
        for number, text in enumerate(row["questions"]):
            messages = [{"role": "user", "content": text}]
            told = memory.of(f"rows-asked-{row['lang']}").add(messages, session=f"{row['id']}-{number}")
            turns[row["id"], number] = str(told.ids[0])
    owners = {f"rows-asked-{row['lang']}" for row in rows}
    yield None
    groups = [group for owner in sorted(owners) for group in _proposed_questions(memory, owner)]
    for row in rows:
        mine = {turns[row["id"], number] for number in range(len(row["questions"]))}
        proposed = [len(mine & group) for group in groups]
        other = any(mine & group and not group <= mine for group in groups)
        figures = {
            "two of three": float(max(proposed, default=0) >= 2),
            "all three": float(len(mine) in proposed),
            "with another": float(other),
        }
        yield Outcome(row, row["questions"][0], figures)


def _proposed_questions(memory: Memory, owner: str) -> list[set[str]]:
    """Turns of each question that the job proposes as asked again in other words, and of each that the judge counted."""
    one = memory.of(owner)
    suggested = [set(row.ids[1:]) for row in one.cleanup(jobs=["suggest"]).decisions if row.ids[0].startswith("asked-")]
    counted = [set(row.source_turns) for row in one.get_all(mode="debug").memories if row.kind == "question"]
    return [*suggested, *filter(None, counted)]


def _speaker(one: Any, speaker: Mapping[str, str]) -> str | None:
    return one.speaker or next((speaker[turn] for turn in one.source_turns if turn in speaker), None)


KINDS: Mapping[str, Callable[[Memory, list[Row]], Steps]] = {
    "speakers": speakers,
    "projects": projects,
    "followups": followups,
    "long": single("long"),
    "needed": single("needed"),
    "exact": exact,
    "unsaid": unsaid,
    "groups": groups,
    "heavier": heavier,
    "paraphrases": joined,
    "near": joined,
    "asked": asked_again,
    "asked-near": asked_again,
}
