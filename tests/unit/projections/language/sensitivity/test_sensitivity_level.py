"""The level of an event is found once, at the door; the fold takes it and asks no rule."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
import pytest

from engramlog_server.events.catalogue import (
    EVENT_TYPES,
    FactAsserted,
    FactRetracted,
    Hit,
    MemoriesAccessed,
    MemoryMerged,
    MemoryNegated,
    SensitivitySet,
    SynonymDefined,
    ToolResultRecorded,
    TurnRecorded,
)
from engramlog_server.events.envelope import decode
from engramlog_server.events.vocabulary import Keywords, Name, Reason, Tags, Text
from engramlog_server.projections.fold.owner import OwnerState, fold_event, fold_owner
from engramlog_server.projections.language.sensitivity.level import (
    LEVEL_RULES,
    SECRET,
    Index,
    _of_name,
    at_most,
    detect_sensitivity,
    judged_under,
    level_now,
    level_of,
    level_of_data,
)
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.past.folding import fold_records
from engramlog_server.projections.past.life import life_of
from tests.given.events import (
    Told,
    asserted,
    at_door,
    compressed,
    created,
    entry,
    merged,
    moment,
    revised,
    stored,
)
from tests.rows import each_row

PASSWORD = "My password is hunter2-Xq9!"
OTHER = "My password is s3cret-Tiger7!"
DIARY = f"The novel begins at sea. {PASSWORD} So says its hero."


def judged(level: int = 0, of: str = "m", day: float = 1) -> Told:
    return Told(SensitivitySet(memory_id=of, level=level, reason="out of a novel"), day)


def levels(*told: Told, of: str = "m") -> tuple[int, int]:
    """A memory's level by judging each text in the fold, and by what the door said."""
    entries = stored(told)
    return tuple(fold_owner(way).memories[of].sensitivity for way in (entries, at_door(entries)))  # type: ignore[return-value]


SAID: dict[str, Told] = {
    "content": created(PASSWORD),
    "summary": created(summary=PASSWORD),
    "keyword": created(keywords=("tea", PASSWORD)),
    "tag": created(tags=("tea", PASSWORD)),
    "speaker": created(speaker=PASSWORD),
    "project": created(project=PASSWORD),
    "task": created(task=PASSWORD),
    "revised content": revised(PASSWORD),
    "revised summary": revised(summary=PASSWORD),
    "revised keyword": revised(keywords=(PASSWORD,)),
    "revised tag": revised(tags=(PASSWORD,)),
    "compressed content": compressed(content=PASSWORD),
    "merge's summary": merged("a", "b", summary=PASSWORD),
    "correction": Told(MemoryNegated(memory_id="m", correction=PASSWORD)),
    "negation's reason": Told(MemoryNegated(memory_id="m", reason=PASSWORD)),
    "triple": Told(FactAsserted(subject="The router", predicate="password is", object="hunter2-Xq9!", evidence=("m",))),
    "triple no more": Told(
        FactRetracted(subject="The router", predicate="password is", object="hunter2-Xq9!", evidence=("m",))
    ),
    "condition": Told(FactAsserted(subject="a", predicate="b", object="c", condition=PASSWORD, evidence=("m",))),
    "turn": Told(TurnRecorded(turn_id="t", role="user", text=PASSWORD)),
    "turn's speaker": Told(TurnRecorded(turn_id="t", role="user", text="tea", speaker=PASSWORD)),
    "tool's text": Told(ToolResultRecorded(tool="ls", text=PASSWORD)),
    "tool": Told(ToolResultRecorded(tool=PASSWORD, text="tea")),
    "synonym": Told(SynonymDefined(keyword="tea", synonym=PASSWORD)),
    "query": Told(
        MemoriesAccessed(
            hits=(Hit(memory_id="m", count=1, best_rank=1, last_at=moment()),), via="recall", query=PASSWORD
        )
    ),
}


@each_row("told", SAID.values(), ids=SAID)
def test_a_secret_is_found_wherever_its_producer_wrote_it(told: Told) -> None:
    [one] = stored([told])
    assert level_of(decode(one.kind, one.body)) == 3


def test_an_event_is_as_sensitive_as_the_highest_of_its_texts() -> None:
    assert level_of_data(created("I like tea").data) == 0
    assert level_of_data(created("I like tea", speaker="call me at 415-555-2671").data) == 2
    assert level_of_data(created("I like tea", speaker="call me at 415-555-2671", summary=PASSWORD).data) == 3


FREE = (Text, Name, Reason, Keywords, Tags)
"""What a producer writes as he likes."""


def _written(cls: type) -> Iterator[str]:
    for field in msgspec.structs.fields(cls):
        either = get_args(field.type) if get_origin(field.type) in (Union, UnionType) else ()
        kinds = (field.type, *either)
        if any(kind in FREE for kind in kinds):
            yield field.name


def test_every_field_that_holds_free_text_counts_whatever_event_it_is_in() -> None:
    found = {(name, field) for name, cls in EVENT_TYPES.items() for field in _written(cls)}
    assert {("MemoryCreated", "content"), ("MemoryRevised", "tags"), ("TurnRecorded", "speaker")} < found
    uncounted = set()
    for name, field in found:
        cls = EVENT_TYPES[name]
        listed = field in ("keywords", "tags")
        data = _bare(cls, **{field: (PASSWORD,) if listed else PASSWORD})
        if level_of_data(data) != SECRET:
            uncounted.add((name, field))
    assert uncounted == set()


def _bare(cls: type, **fields: Any) -> Any:
    """An event's data with these fields, and whatever stands for the others: nothing but their texts is read."""
    given = {one.name: () if "tuple" in str(one.type) else "x" for one in msgspec.structs.fields(cls) if one.required}
    return cls(**given | fields)


def test_an_entry_tells_by_which_rules_it_was_judged() -> None:
    [one] = stored([created(PASSWORD)])
    assert (judged_under(one), level_now(one)) == (0, None)
    [marked] = at_door([one])
    assert (judged_under(marked), level_now(marked)) == (LEVEL_RULES, 3)
    [older] = at_door([one], rules=LEVEL_RULES + 1)
    assert (judged_under(older), level_now(older), older.level) == (LEVEL_RULES + 1, None, 3)


STORY = (
    created(DIARY), judged(), revised(DIARY, day=2), compressed("summary", day=2, content=PASSWORD), created(OTHER, "n"),
    revised("I like tea", day=3, keywords=("tea",)), asserted("m", "n", day=3), merged("m", "n", day=4, summary=DIARY),
)  # fmt: skip


def test_with_levels_at_the_door_no_fold_asks_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    entries, alike = at_door(stored(STORY)), stored(STORY)
    expected = fold_owner(entries)
    touches = life_of(entries, "m")

    def asked(*_: object) -> None:
        raise AssertionError("a rule was asked")

    _of_name.cache_clear()
    monkeypatch.setattr(Index, "read", asked)
    assert fold_owner(entries) == expected
    assert fold_records(entries).memories == expected.memories
    assert life_of(entries, "m") == touches
    owner, memories = OwnerState(), dict[str, Memory]()
    for one in entries:
        step = fold_event(owner, memories, decode(one.kind, one.body), one)
        owner, memories = step.owner, memories | step.changed
    assert memories == expected.memories
    with pytest.raises(AssertionError, match="a rule was asked"):  # the control: an entry without a level is judged
        fold_owner(alike)


@each_row("told", SAID.values(), ids=SAID)
def test_without_a_judgement_by_hand_the_fold_is_the_same_whoever_judges(told: Told) -> None:
    entries = stored([created("I like tea", "a"), created("I like milk", "b"), created(), told])
    if isinstance(told.data, type(created().data)):
        entries = [entry(told, "ada", 1)]
    nobody = [one._replace(beside=(b"0", b"local", b"0:0", b"", bytes(32))) for one in entries]
    assert fold_owner(at_door(entries)) == fold_owner(nobody)


def test_the_highest_counts_of_the_entrys_level_and_of_its_producers_figure() -> None:
    def folded_at(level: int, **figure: int) -> int:
        [one] = stored([created("The usual place", **figure)])
        told = one._replace(beside=(b"0", b"local", b"1:%d" % level, b"", bytes(32)))
        return fold_owner([told]).memories["m"].sensitivity

    assert [folded_at(level) for level in range(4)] == [0, 1, 2, 3]
    assert [folded_at(level, sensitivity=2) for level in range(4)] == [2, 2, 2, 3]


SAME = {
    "the same words again": revised(DIARY, day=2),
    "a keyword out of them": revised(DIARY, day=2, keywords=(PASSWORD,)),
    "shorter": compressed("summary", day=2, content=PASSWORD),
    "a triple of them": Told(
        FactAsserted(subject="hero", predicate="password is", object="hunter2-Xq9!", evidence=("m",)), 2
    ),
}


@each_row("told", SAME.values(), ids=SAME)
def test_what_somebody_judged_by_hand_holds_also_against_the_level_of_the_door(told: Told) -> None:
    assert levels(created(DIARY), told) == (3, 3)
    assert levels(created(DIARY), judged(), told) == (0, 0)


def test_beside_words_that_were_judged_a_new_one_brings_the_level_of_the_whole_event() -> None:
    """The entry does not tell which of its texts has the level: folding judges each alone, the door's way never lower."""
    assert levels(created(DIARY), judged(), revised(DIARY, day=2, keywords=("tea",))) == (0, 3)
    assert levels(created(DIARY), judged(), revised("I like tea", day=2, summary=PASSWORD)) == (0, 3)
    again = judged(0, day=3)
    assert levels(created(DIARY), judged(), revised(DIARY, day=2, keywords=("tea",)), again) == (0, 0)


def test_a_merge_is_as_sensitive_as_its_reason_where_the_door_judged_it() -> None:
    reason = MemoryMerged(sources=("m", "n"), into="all", summary="tea", reason=PASSWORD)
    assert levels(created("I like tea"), created("I like milk", "n"), Told(reason, 1, "system"), of="all") == (0, 3)


@each_row("most", range(4))
@each_row(("text", "speaker"), [(PASSWORD, "Lin"), ("I like tea", PASSWORD), ("I like tea", "Lin")])
def test_words_of_an_event_are_told_as_if_each_were_judged_alone(text: str, speaker: str, most: int) -> None:
    whole = level_of_data(TurnRecorded(turn_id="t", role="user", text=text, speaker=speaker))
    for words in (text, speaker):
        assert at_most(most, words, whole) == at_most(most, words, None) == (detect_sensitivity(words) <= most)
