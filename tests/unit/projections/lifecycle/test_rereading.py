"""Newer rules raise what older ones left low; what a person judged holds, and nothing is ever lowered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engramlog_server.events.catalogue import (
    FactAsserted,
    FactRetracted,
    MemoryNegated,
    SensitivityRaised,
    SensitivitySet,
    TurnRecorded,
)
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.standing import ACTORS
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES
from engramlog_server.projections.lifecycle import LEVELS, Decision, plan
from engramlog_server.projections.lifecycle.extraction import is_outdated, levels_today
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Told,
    asserted,
    at,
    at_door,
    compressed,
    created,
    deleted,
    folded,
    kept,
    memory,
    mentioned,
    merged,
    purged,
    revised,
    stored,
    unmerged,
)
from tests.rows import each_row

PASSWORD = "My password is hunter2-Xq9!"
DIARY = f"The novel begins at sea. {PASSWORD} So says its hero."


def raised(level: int = 3, of: str = "m", day: float = 1, actor: str = "system") -> Told:
    return Told(SensitivityRaised(memory_id=of, level=level, rules=2), day, actor)


def judged(level: int = 0, of: str = "m", day: float = 1) -> Told:
    return Told(SensitivitySet(memory_id=of, level=level, reason="out of a novel"), day)


def by_older_rules(*told: Told, rules: int = 0, level: int = 0) -> list[Stored]:
    """Entries as rules that found less wrote them."""
    beside = (b"0", b"local", b"%d:%d" % (rules, level), b"", bytes(32))
    return [one._replace(beside=beside) for one in stored(told)]


def decisions(entries: Sequence[Stored], *, standing: Sequence[Stored] | None = None) -> list[Decision]:
    """What the job would append, where the owner stands as `standing` folds."""
    view = OwnerView.of_history("ada", fold_owner(entries if standing is None else standing))
    view.judged_today = levels_today(entries)
    return plan(view, at(100), (LEVELS,))


def low(*told: Told) -> list[Stored]:
    """Entries whose rules found nothing."""
    return [one._replace(beside=(b"0", b"local", b"9:0", b"", bytes(32))) for one in stored(told)]


def test_what_todays_rules_find_more_is_raised() -> None:
    entries = by_older_rules(created(PASSWORD), created("I like tea", "n"))
    [one] = decisions(entries, standing=low(created(PASSWORD), created("I like tea", "n")))
    assert one.data == SensitivityRaised(memory_id="m", level=3, rules=LEVEL_RULES)
    assert (one.job, one.action, one.ids, one.actor) == ("levels", "raise", ("m",), "system")
    assert PASSWORD not in str(one.as_dict())


def test_only_what_puts_words_into_a_memory_is_read_for() -> None:
    told = (created(), revised(), compressed(content="tea"), merged("m", "n"), asserted("m"))
    assert all(is_outdated(one) for one in stored(told))
    assert not any(is_outdated(one) for one in at_door(stored(told)))
    others = (mentioned(), deleted(), raised(), Told(TurnRecorded(turn_id="t", role="user", text=PASSWORD)))
    assert not any(is_outdated(one) for one in stored(others))


def test_every_event_that_changes_a_memorys_level_by_its_words_is_read_for() -> None:
    """Whatever a producer may say: if it raised a memory, its entry is one of those that are read again."""
    story = [created("I like tea"), created("I like milk", "n")]
    told = [
        revised(PASSWORD),
        compressed("summary", content=PASSWORD),
        merged("m", "n", summary=PASSWORD),
        Told(FactAsserted(subject="My", predicate="password is", object="hunter2-Xq9!", evidence=("m",))),
        Told(FactRetracted(subject="My", predicate="password is", object="hunter2-Xq9!", evidence=("m",))),
        Told(MemoryNegated(memory_id="m", correction=PASSWORD, reason=PASSWORD)),
        kept(reason=PASSWORD),
        created(PASSWORD, "new"),
    ]
    for one in told:
        entries = stored([*story, one])
        rose = max(each.sensitivity for each in fold_owner(entries).memories.values()) == 3
        assert (one, is_outdated(entries[-1])) == (one, rose)


def test_what_a_person_judged_by_hand_is_not_raised_and_other_words_are() -> None:
    same = (created(DIARY), judged(), revised(DIARY, day=2))
    assert decisions(by_older_rules(*same), standing=low(*same)) == []
    other = (created(DIARY), judged(), revised("My password is s3cret-Tiger7!", day=2))
    assert [one.ids for one in decisions(by_older_rules(*other), standing=low(*other))] == [("m",)]


def test_what_is_deleted_or_merged_away_is_raised_too_for_it_may_come_back() -> None:
    gone = (created(PASSWORD), deleted(day=1))
    assert [one.ids for one in decisions(by_older_rules(*gone), standing=low(*gone))] == [("m",)]
    merge = (created(PASSWORD), created("I like tea", "n"), merged("m", "n", day=1, summary="tea"))
    assert {one.ids for one in decisions(by_older_rules(*merge), standing=low(*merge))} == {("m",), ("all",)}
    back = folded(
        created("The usual place"), created("b", "n"), merged("m", "n", day=1), raised(day=2), unmerged(day=3)
    )
    assert back.memories["m"].sensitivity == 3
    assert back.memories["n"].sensitivity == 0


def test_of_what_is_purged_nothing_is_raised() -> None:
    told = (created(PASSWORD), deleted(day=1), purged(day=40, due=40))
    assert decisions(by_older_rules(*told), standing=low(*told)) == []
    story = memory.given(*told)
    story.when(raised(day=41)).then(decision="ignored", reason="purged: only a tombstone is left")


def test_a_raise_only_raises_and_the_change_log_tells_both_levels() -> None:
    memory.given(created("The usual place", sensitivity=1)).when(raised(3)).then(
        decision="sensitivity",
        reason="sensitivity 3, found by rules 2 (it was 1)",
        fields=["sensitivity"],
        sensitivity=3,
    )
    for level in (1, 2, 3):
        memory.given(created("The usual place", sensitivity=3)).when(raised(level)).then(
            decision="ignored", reason="as sensitive already: 3", sensitivity=3
        )


@each_row("actor", ACTORS)
def test_only_the_system_or_an_operator_tells_of_a_raise(actor: str) -> None:
    if actor in ("system", "operator"):
        assert folded(created("The usual place"), raised(actor=actor)).memories["m"].sensitivity == 3
        return
    with pytest.raises(InvalidEvent) as refused:
        folded(created("The usual place"), raised(actor=actor))
    assert (refused.value.field, refused.value.got) == ("actor", actor)
