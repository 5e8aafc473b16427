"""Both time lines on what reads more than memories: context, uses, stats, replay, curves, export; over random late events.

The oracle is a list of what was told, filtered, and counted by hand: it shares no fold with the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from api.choices import ASKED_FOR
from api.exchange.exporting import ExportOptions
from events.catalogue import SensitivitySet
from events.envelope import from_micros, utc_text
from events.errors import InputError, NotFound
from events.partitions import partition_of
from projections.redis.said import REACHES
from tests.acceptance.helpers.store import Store, day, embedded_store
from tests.given.events import Told, created, deleted, mentioned, negated, parameters, purged
from tests.given.said import injected, said
from tests.rows import each_row

LATER = "2100-01-01T00:00:00Z"
IDS = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with embedded_store(tmp_path_factory.mktemp("lines") / "data") as opened:
        yield opened


def recorded(store: Store, position: str) -> str:
    """When the entry at a position was recorded."""
    partition, seq = map(int, position.split(":"))
    (found,) = store.app.log.read_at(partition, [seq])
    assert found.recorded is not None
    return utc_text(from_micros(found.recorded))


# --- crossed, against a list


@dataclass(frozen=True)
class Line:
    """One event as the oracle knows it."""

    kind: str
    name: str
    """The memory, or the turn."""
    at: float
    """Day on which it happened."""
    of: str = ""
    """Of a reply the turn that it answers; of an injection the turn that it was for."""

    @property
    def told(self) -> Told:
        if self.kind == "create":
            return created(f"about {self.name}", self.name, day=self.at)
        if self.kind == "negate":
            return negated(self.name, self.at, resolution="version_keep")
        if self.kind == "turn":
            return said(self.name, f"turn {self.name}", day=self.at, session="talk")
        if self.kind == "reply":
            return said(
                self.name, f"turn {self.name}", role="assistant", day=self.at, session="other", reply_to=self.of
            )
        return injected(self.name, turn_id=self.of, day=self.at, session="talk")


def random_lines(chance: Random) -> list[Line]:
    lines = [Line("create", name, 0) for name in IDS] + [Line("negate", name, 0) for name in chance.sample(IDS, 2)]
    lines += [Line("turn", f"t{n}", 0) for n in range(5)] + [Line("reply", f"r{n}", 0, f"t{n}") for n in range(3)]
    lines += [Line("inject", chance.choice(IDS), 0, f"t{chance.randrange(5)}") for _ in range(6)]
    chance.shuffle(lines)
    days = chance.sample(range(1, 60), len(lines))
    return [Line(one.kind, one.name, when, one.of) for one, when in zip(lines, days, strict=True)]


def touches(kept: list[tuple[int, Line]], name: str) -> list[int]:
    """Seqs of what changed a memory, in the order in which it happened: whatever makes another memory of the list up to then."""

    def state(until: float) -> tuple[int, ...] | None:
        log = [one for _, one in kept if one.at <= until]
        made = next((n for n, one in enumerate(log) if (one.kind, one.name) == ("create", name)), None)
        if made is None:
            return None
        about = [one for one in log[made:] if one.name == name]
        return sum(one.kind == "negate" for one in about), sum(one.kind == "inject" for one in about)

    found, before = list[int](), None
    for seq, one in sorted(kept, key=lambda pair: pair[1].at):
        now = state(one.at)
        if now != before:
            found.append(seq)
        before = now
    return found


@each_row("seed", range(4))
def test_what_is_asked_on_both_lines_is_counted_on_a_filtered_list(store: Store, seed: int) -> None:
    chance = Random(seed)
    owner, lines = store.owner(), random_lines(chance)
    partition = partition_of(owner, store.app.log.partitions)
    log: list[tuple[int, str, Line]] = []
    """Seq, recorded, event."""
    while len(log) < len(lines):
        batch = lines[len(log) : len(log) + chance.randint(1, 6)]
        last = store.tell(owner, *(one.told for one in batch))
        seq, when = int(last.split(":")[1]), recorded(store, last)
        log += [(seq - len(batch) + n, when, one) for n, one in enumerate(batch, 1)]
    instants = sorted({when for _, when, _ in log})
    for _ in range(10):
        as_of = chance.choice([None, chance.uniform(0, 60)])
        known = chance.choice([None, LATER, *instants, f"{partition}:{chance.choice(log)[0]}"])
        kept = [
            (seq, one)
            for seq, when, one in log
            if (as_of is None or one.at <= as_of)
            and (known is None or (when <= known if "T" in known else seq <= int(known.split(":")[1])))
        ]
        compare(store, owner, kept, {"as_of": None if as_of is None else day(as_of), "known": known})


def compare(store: Store, owner: str, kept: list[tuple[int, Line]], times: dict[str, Any]) -> None:
    """Every question against what the list tells."""
    events = [one for _, one in kept]
    made = [one.name for one in sorted(events, key=lambda one: one.at) if one.kind == "create"]
    turns = [one.name for one in events if one.kind == "turn"]
    counts = store.operator.stats(owner, **times)
    late = {
        one.name
        for n, one in enumerate(events)
        if one.kind == "negate" and any((e.kind, e.name) == ("create", one.name) for e in events[:n])
    }
    assert (counts["events"], counts["memories"], counts["negated"]) == (len(kept), len(made), len(late))
    assert {name: counts[name] for name in times} == times

    born = {one.name: one.at for one in events if one.kind == "create"}
    listed = store.reader.list(owner, mode="debug", limit=100, **times)["memories"]
    assert [one["id"] for one in listed] == sorted(born, key=lambda name: -born[name])
    for name, when in born.items():
        memory = store.reader.get(owner, name, trace=False, **times)
        assert (memory["created_at"], memory["is_negated"], memory["memory"]) == (
            day(when),
            name in late,
            f"about {name}",
        )
    changes = store.reader.history(owner, **times)["changes"]
    about = [(seq, one) for seq, one in kept if one.kind in ("create", "negate")]
    assert [(int(one["position"].split(":")[1]), one["memory"], one["event"]) for one in changes] == [
        (seq, one.name, {"create": "MemoryCreated", "negate": "MemoryNegated"}[one.kind]) for seq, one in about
    ]
    assert [one["decision"] == "ignored" for one in changes] == [
        one.kind == "negate" and one.name not in {e.name for _, e in about[:n] if e.kind == "create"}
        for n, (_, one) in enumerate(about)
    ]

    exported = store.app.records.export(owner, ExportOptions(include=ASKED_FOR), **times)
    assert [line["memory_id"] for line in exported.records()] == made
    assert {name: exported.as_dict()[name] for name in times} == times

    same = store.replayer.replay(owner, **times)
    assert (same["events"], same["differences"]) == ({"today": len(kept), "replayed": len(kept)}, [])

    block = store.app.contexts.context(owner, "And now?", session="talk", proactive=False, **times)
    assert [line["id"] for line in block["parts"]["remembered"]] == turns
    assert block["recorded"] == {"status": "off"} or times == {"as_of": None, "known": None}

    for name in IDS:
        if name not in made:
            for ask in (store.app.uses.uses, store.app.comparer.curves):
                with pytest.raises(NotFound):
                    ask(owner, name, **times)
            continue
        used = [one.of for one in reversed(events) if (one.kind, one.name) == ("inject", name)]
        first = [one.of for n, one in enumerate(events) if one.kind == "inject" and one.name == name]
        uses = store.app.uses.uses(owner, name, limit=100, **times)["uses"]
        assert {use["turn_id"] for use in uses} == set(used)
        # A turn for which it was injected twice is told once, where it was injected first.
        assert [use["turn_id"] for use in uses] == list(dict.fromkeys(first))[::-1]
        for use in uses:
            assert (use["turn"] is not None) == (use["turn_id"] in turns)
            replies = [one.name for one in events if one.kind == "reply" and one.of == use["turn_id"]]
            assert [reply["turn_id"] for reply in use["replies"]] == replies
        curves = store.app.comparer.curves(owner, name, **times)
        assert [int(touch["position"].split(":")[1]) for touch in curves["events"]] == touches(kept, name)


# --- context


def test_a_block_about_the_past_is_the_one_that_was_given_then_and_records_nothing(store: Store) -> None:
    owner, asks = store.owner(), "What do I drink in the morning?"
    position = store.tell(
        owner,
        created("I drink coffee every morning", "coffee", day=store.yesterday),
        created("Her name is Ada", "name", tier="core", day=store.yesterday),
        said("t1", "Good morning", day=store.yesterday),
    )
    given = store.app.contexts.context(owner, asks, trace=False)
    assert given["injected"] == ["name", "coffee"]
    store.tell(
        owner,
        negated("coffee", store.yesterday, resolution="latest_wins"),
        created("I drink tea every morning", "tea", day=store.yesterday),
        said("t2", "I drink tea now", day=store.yesterday),
    )
    head = store.head(owner)
    for known in (position, recorded(store, position)):
        again = store.app.contexts.context(owner, asks, known=known)
        assert (again["injected"], again["recorded"]) == (["name", "coffee"], {"status": "off"})
        assert [again["parts"][part] for part in ("core", "remembered", "retrieved", "tools")] == [
            given["parts"][part] for part in ("core", "remembered", "retrieved", "tools")
        ]
        assert (again["known"], again["position"]) == (known, position)
    store.flushed()
    assert store.head(owner) == head
    assert store.app.contexts.context(owner, asks, trace=False)["injected"] == ["name", "tea"]


def test_the_time_of_a_block_is_the_instant_that_it_is_about(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a", day=0), parameters(0, time_zone="Asia/Shanghai"))
    answer = store.app.contexts.context(owner, "Hello", as_of="2024-03-01T20:00:00Z")
    assert answer["parts"]["time"] == "2024-03-02 04:00 Saturday (Asia/Shanghai)"


def test_what_was_deleted_or_found_sensitive_since_stands_in_no_block_of_before(store: Store) -> None:
    owner, now = store.owner(), store.yesterday
    position = store.tell(
        owner,
        created("I drink coffee at the kiln", "gone", day=now, tier="core"),
        created("I drink tea at the kiln", "told", day=now, tier="core"),
        created("I drink water at the kiln", "kept", day=now, tier="core"),
    )
    store.tell(
        owner,
        deleted("gone", now, reason="user_delete"),
        Told(SensitivitySet(memory_id="told", level=2, reason="private"), now),
    )
    answer = store.app.contexts.context(owner, "What do I drink at the kiln?", known=position)
    assert answer["injected"] == ["kept"]
    assert answer["left_out"].keys() >= {"deleted", "sensitive"}
    assert "coffee" not in answer["block"]
    assert "tea" not in answer["block"]
    asked = store.app.contexts.context(owner, "What do I drink at the kiln?", known=position, sensitive=True)
    assert set(asked["injected"]) == {"kept", "told"}


def test_a_turn_that_was_retracted_since_is_told_of_no_past(store: Store) -> None:
    owner, now = store.owner(), store.yesterday
    position = store.tell(
        owner,
        said("t1", "The kiln is behind the church", day=now),
        created("The kiln is behind the church", "t1", day=now, kind="episode", source_turns=("t1",)),
        created("I like kilns", "kilns", day=now),
        injected("kilns", turn_id="t1", day=now),
    )
    assert "behind the church" in str(store.app.contexts.context(owner, "Hm?", known=position))
    assert "behind the church" in str(store.app.uses.uses(owner, "kilns", known=position))
    store.tell(owner, deleted("t1", now, reason="user_delete"))
    assert "behind the church" not in str(store.app.contexts.context(owner, "Hm?", known=position))
    (use,) = store.app.uses.uses(owner, "kilns", known=position)["uses"]
    assert (use["turn_id"], "church" in use["turn"]["text"]) == ("t1", False)


def test_a_block_of_the_past_reads_back_as_far_as_one_of_today(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, said("old", "Good morning", day=0))
    for _ in range(0, REACHES[0] + 40, 56):
        store.tell(owner, *(mentioned("nothing", day=1) for _ in range(56)))
    position = store.tell(owner, created("coffee", "a", day=2))
    store.tell(owner, said("new", "Good evening", day=3))
    past = store.app.contexts.context(owner, "Hello", session="s1", known=position)
    assert [line["id"] for line in past["parts"]["remembered"]] == ["old"]
    assert past["read_back"] == "all"


def test_a_block_of_the_past_reads_back_no_further_than_one_of_today(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, said("old", "Good morning", day=0))
    for start in range(0, REACHES[-1] + 60, 120):
        store.tell(owner, *(said(f"t{start + n}", "Well", day=1, session="other") for n in range(120)))
    position = store.tell(owner, created("coffee", "a", day=2))
    today, past = (
        store.app.contexts.context(owner, "Hello", session="s1", trace=False, **times)
        for times in ({}, {"known": position})
    )
    assert (past["read_back"], past["parts"]["remembered"]) == ("part", [])
    assert (today["read_back"], today["parts"]["remembered"]) == ("part", [])


# --- the others


def test_counts_of_the_whole_store_are_of_now_alone(store: Store) -> None:
    for field in ("as_of", "known", "at", "after"):
        with pytest.raises(InputError, match=f"^{field}: got .*without an owner"):
            store.operator.stats(None, **{field: LATER})  # type: ignore[arg-type]


def test_a_replay_of_the_past_leaves_out_of_what_was_known_then(store: Store) -> None:
    owner = store.owner()
    position = store.tell(owner, created("coffee", "a", day=0), mentioned("a", day=1))
    mention = store.reader.history(owner)["changes"][-1]["event_id"]
    store.tell(owner, negated("a", 1, resolution="latest_wins"))
    (told,) = store.replayer.replay(owner, known=position, without=[mention])["differences"]
    assert (told["id"], told["today"]["mention_count"], told["replayed"]["mention_count"]) == ("a", 2, 1)
    assert told["today"]["is_negated"] is False


def test_curves_of_the_past_end_with_it_unless_told(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a", day=0), mentioned("a", day=9))
    told = store.app.comparer.curves(owner, "a", as_of=day(5))
    assert (told["window"]["to"], len(told["events"])) == (day(5), 1)
    ahead = store.app.comparer.curves(owner, "a", as_of=day(5), until=day(20))
    assert (ahead["window"]["to"], len(ahead["events"])) == (day(20), 1)


def test_an_export_of_the_past_has_what_was_deleted_since_and_nothing_that_was_purged(store: Store) -> None:
    owner = store.owner()
    position = store.tell(owner, *(created(f"I like {name}", name, day=0) for name in ("coffee", "tea", "water")))
    store.tell(owner, deleted("tea", 1), deleted("water", 1), purged("water", 40))
    told = store.app.records.export(owner, ExportOptions(), known=position)
    assert [line["memory_id"] for line in told.records()] == ["coffee", "tea"]
    assert told.left_out == {"purged": 1}
    text = store.app.records.export(owner, ExportOptions(), "text", as_of="2024-01-01")
    assert "water" not in "".join(text.text or ())
