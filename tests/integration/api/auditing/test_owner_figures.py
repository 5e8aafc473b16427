"""One owner in figures: what happened is what the history tells, under both time lines; nothing of what was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.cli.show.generic import answer
from engramlog_server.api.services import living as summing
from engramlog_server.api.work import NeedsHeavyLane, Patience, with_patience
from engramlog_server.events.errors import DeadlineExceeded
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import partition_of
from tests.acceptance.helpers.store import Store, day, embedded_store
from tests.chaos.attendants import live_keys
from tests.given.events import (
    compressed,
    created,
    deleted,
    in_conflict,
    mentioned,
    merged,
    negated,
    reinforced,
    shown,
    unmerged,
)
from tests.given.said import injected, said

NOTHING = {"taken_back": 0, "refused": 0, "total": 0}


def lived(store: Store) -> tuple[str, str]:
    """An owner with some of each, and where it stood before the last events."""
    owner = store.owner()
    store.tell(
        owner,
        created("I like tea", "tea"),
        created("I like green tea", "green", day=1),
        created("I like coffee", "coffee", day=1),
        mentioned("coffee", 2),
        mentioned("coffee", 2.1),
        mentioned("coffee", 2.2),
        negated("tea", 3),
    )
    known = store.tell(
        owner,
        merged("green", "coffee", into="drinks", day=4),
        shown("tea", "drinks", day=4),
        shown("tea", day=4, via="injection"),
    )
    store.tell(
        owner,
        mentioned("tea", 5),
        unmerged("drinks", 6),
        in_conflict("tea", "coffee", 6),
        compressed(of="green", day=40),
        shown("green", day=41),
        deleted("green", 42),
        mentioned("nobody", 43),
    )
    return owner, known


def test_each_figure_counts_what_happened_once(store: Store) -> None:
    owner, _ = lived(store)
    assert store.operator.stats(owner)["figures"] == {
        "activations": 4,
        "frequent_mentions": 1,
        "negations": 1,
        "merges": 1,
        "merges_undone": 1,
        "compressions": 1,
        "possible_conflicts": 1,
        "task_successes": 0,
        "task_failures": 0,
        "conflict_errors": {"taken_back": 1, "refused": 0, "total": 1},
    }


def test_of_a_past_what_had_happened_then_is_counted(store: Store) -> None:
    owner, known = lived(store)
    told = store.operator.stats(owner, as_of=known)
    assert told["figures"] == {
        "activations": 3,
        "frequent_mentions": 1,
        "negations": 1,
        "merges": 1,
        "merges_undone": 0,
        "compressions": 0,
        "possible_conflicts": 0,
        "task_successes": 0,
        "task_failures": 0,
        "conflict_errors": NOTHING,
    }
    assert told["shown"] == {"recall": {"answers": 1, "memories": 2}, "injection": {"answers": 1, "memories": 1}}


def test_what_was_known_later_of_an_earlier_day_is_counted_only_once_it_was_known(store: Store) -> None:
    owner, known = lived(store)
    store.tell(owner, mentioned("tea", 2.5))
    of_then = store.operator.stats(owner, known=known, as_of=day(4.5))["figures"]
    of_now = store.operator.stats(owner, as_of=day(4.5))["figures"]
    assert (of_then["activations"], of_now["activations"]) == (3, 4)


def test_satisfaction_is_told_by_week_and_of_a_past_as_it_was_then(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("I like tea", "tea"),
        said("t1", "What do I drink?", day=1),
        injected("tea", turn_id="t1", day=1),
        injected("tea", turn_id="t2", day=1.1),
        injected("tea", turn_id="t3", day=9),
    )
    before = store.tell(owner, reinforced("tea", day=9.1, outcome="task_failure", turn_id="t1"))
    store.tell(owner, reinforced("tea", day=9.2, outcome="task_success", turn_id="t1"))
    store.tell(owner, reinforced("tea", day=9.3, outcome="task_success"))
    told = store.operator.stats(owner)
    newer, older = told["satisfaction"]
    assert (newer["answers"], newer["reported_share"], newer["success_share"]) == (1, 0.0, None)
    assert (older["answers"], older["task_success"], older["task_failure"]) == (2, 1, 0)
    assert (older["reported_share"], older["success_share"]) == (0.5, 1.0)
    assert (told["figures"]["task_successes"], told["figures"]["task_failures"]) == (2, 1)
    assert (newer["other_success"], newer["other_failure"], told["satisfaction_note"]) == (1, 0, None)
    _, then = store.operator.stats(owner, as_of=before)["satisfaction"]
    assert (then["task_success"], then["task_failure"]) == (0, 1)


def test_where_no_report_names_an_answer_the_answer_says_why(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I like tea", "tea"))
    assert store.operator.stats(owner)["satisfaction_note"] == (
        "no prompt with memories is recorded (`context` with `trace`), so reports belong to no answer"
    )
    store.tell(owner, reinforced("tea", day=1, outcome="task_success"))
    (week,) = store.operator.stats(owner)["satisfaction"]
    assert (week["answers"], week["reported_share"], week["other_success"]) == (0, None, 1)
    store.tell(owner, injected("tea", turn_id="t1", day=2))
    note = store.operator.stats(owner)["satisfaction_note"]
    assert note == "no report names an answer: report with `turn_id`, or in the session of the prompt"


def test_figures_are_those_of_the_history(store: Store) -> None:
    owner, _ = lived(store)
    counted: Counter[tuple[str, str]] = Counter()
    for change in {one["event_id"]: one for one in store.reader.history(owner)["changes"]}.values():
        counted[change["event"], change["decision"]] += 1
    told = store.operator.stats(owner)["figures"]
    mentions = sum(counted["MemoryMentioned", how] for how in ("reinforce", "merge", "reaffirm", "wait"))
    assert told["activations"] == mentions
    assert told["frequent_mentions"] == counted["MemoryMentioned", "merge"]
    assert told["conflict_errors"]["taken_back"] == counted["MemoryMentioned", "reaffirm"]


def test_a_negation_that_a_person_refused_is_an_error_of_conflict(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I like tea", "tea"), created("I like coffee", "coffee"))
    for memory_id in ("tea", "coffee"):
        store.tell(owner, replace(negated(memory_id, 1), actor="judge", extra={"trust": "proposed"}))
    waiting = {one["memory"]: one["item"] for one in store.app.inbox.page(owner)["items"]}
    assert store.operator.stats(owner)["figures"]["negations"] == 0
    store.app.inbox.reject(owner, waiting["I like tea"])
    before = store.operator.stats(owner)["position"]
    store.app.inbox.accept(owner, waiting["I like coffee"])
    told = [store.operator.stats(owner, **when)["figures"] for when in ({"as_of": before}, {})]
    assert [(one["negations"], one["conflict_errors"]["refused"]) for one in told] == [(0, 1), (1, 1)]


def test_the_figures_of_a_store_are_the_sums_over_its_owners(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with embedded_store(tmp_path / "data") as store:
        assert store.operator.stats()["figures_of"] == {"owners": 0, "left_out": 0}
        owners = [lived(store)[0], lived(store)[0], store.owner()]
        store.tell(owners[2], created("I like tea", "tea"), created("I like coffee", "coffee"))
        store.tell(owners[2], replace(negated("tea", 1), actor="judge", extra={"trust": "proposed"}))
        (waiting,) = store.app.inbox.page(owners[2])["items"]
        store.app.inbox.reject(owners[2], waiting["item"])
        told = store.operator.stats()
        assert told["figures_of"] == {"owners": 3, "left_out": 0}
        assert flat(told["figures"]) == sum((flat(store.operator.stats(one)["figures"]) for one in owners), Counter())
        assert told["figures"]["conflict_errors"] == {"taken_back": 2, "refused": 1, "total": 3}
        answer(told)
        assert "activations 8 " in " ".join(capsys.readouterr().out.split())


def flat(figures: dict[str, Any]) -> Counter[str]:
    """Figures and the parts of the errors as one table, zeros left out."""
    errors = {f"errors, {name}": count for name, count in figures["conflict_errors"].items()}
    return +Counter({name: count for name, count in figures.items() if name != "conflict_errors"} | errors)


def test_who_is_too_long_or_cannot_be_read_is_left_out_of_a_store_s_sums_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embedded_store(tmp_path / "data") as store:
        (long, _), short = lived(store), store.owner()
        store.tell(short, created("I like tea", "tea"), mentioned("tea", 1))
        monkeypatch.setattr(summing, "MOST_SUMMED_EVENTS", 5)
        told = store.operator.stats()
        assert (told["owners"], told["figures_of"]) == (2, {"owners": 1, "left_out": 1})
        assert told["figures"]["activations"] == 1
        monkeypatch.undo()
        with store.operator._wires.wire() as wire:
            keys = live_keys(wire, store.operator._identity.tags[partition_of(long, store.app.log.partitions)])
            state = wire.call("HGET", keys.owners, long)
            wire.call("HSET", keys.owners, long, b"no state")
            assert store.operator.stats()["figures_of"] == {"owners": 1, "left_out": 1}
            wire.call("HSET", keys.owners, long, state)


def many(store: Store, mentions: int) -> str:
    owner = store.owner()
    store.tell(owner, created("I like tea", "tea"))
    events = [store.prepared(owner, mentioned("tea", 1 + number / 100)) for number in range(mentions)]
    receipts = list[AppendReceipt]()
    for start in range(0, mentions, 1_000):
        receipts += store.app.log.append(events[start : start + 1_000])
    store.writer.settle(receipts)
    return owner


def test_a_long_history_moves_to_the_heavy_lane_and_ends_at_its_deadline(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = many(store, 3_000)
    assert store.operator.stats(owner)["figures"]["activations"] == 3_000
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", 500)
    with with_patience(Patience(light=True)), pytest.raises(NeedsHeavyLane):
        store.operator.stats(owner)
    late = Patience()
    late.begin(-1.0)
    with with_patience(late), pytest.raises(DeadlineExceeded):
        store.operator.stats(owner)


def test_counting_holds_a_piece_of_a_history_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, pieces = many(store, 3_000), list[int]()
    newest = store.app.views.changelogs.newest

    def watched(*asked: Any) -> Iterator[tuple[list[int], list[Any]]]:
        for seqs, entries in newest(*asked):
            pieces.append(len(entries))
            yield seqs, entries

    monkeypatch.setattr(store.app.views.changelogs, "newest", watched)
    store.operator.stats(owner)
    assert sum(pieces) == 3_001
    assert max(pieces) <= 1_000


def test_a_memory_tells_the_tags_and_the_emotion_that_its_time_and_its_words_have(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("I love this, what a wonderful success", "glad", day=0),
        created("urgent: the test failed, fix the bug at once", "urgent", day=0),
        created("周末在家，今天很开心", "zh", day=0, tags=("home",)),
        created("fine", "told", day=0, tags=("calm",), emotion=-0.25),
    )
    told = {name: store.reader.get(owner, name, at=day(1)) for name in ("glad", "urgent", "zh", "told")}
    assert {"positive"} <= set(told["glad"]["context"]["tags"])
    assert told["glad"]["context"]["emotion"] == 0.5
    assert {"urgent", "testing", "debugging"} <= set(told["urgent"]["context"]["tags"])
    assert told["zh"]["context"]["tags"][0] == "home"
    assert "positive" in told["zh"]["context"]["tags"]
    assert told["told"]["context"] == {"tags": ["calm"], "emotion": -0.25}
    assert [told["glad"]["tags"], told["glad"]["emotion"]] == [[], None]


def test_of_a_secret_only_what_its_time_tells_is_told(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("the PIN of my wonderful card is 4821", "pin", day=0, tags=("card",)))
    told = store.reader.get(owner, "pin", at=day(1))["context"]
    assert not {"card", "positive"} & set(told["tags"])
    assert told["emotion"] is None


def test_people_read_what_there_is_of_it(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    owner, _ = lived(store)
    answer(store.operator.stats(owner, at=day(50)))
    told = " ".join(capsys.readouterr().out.split())
    assert "activations 4 frequent mentions 1 negations 1 merges 1 merges undone 1 compressions 1" in told
    assert "conflict errors taken back 1, total 1" in told
    assert "recall 2 3" in told
