"""A producer's figure only raises; the way down is a person's word, and holds for the words that he judged."""

from __future__ import annotations

import pytest

from engramlog_server.events.catalogue import FactAsserted, SensitivitySet
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.standing import ACTORS
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.views.query import detail
from engramlog_server.projections.views.view import WITHHELD, OwnerView
from tests.given.events import Told, at, compressed, created, deleted, folded, memory, merged, purged, revised
from tests.rows import each_row

PASSWORD = "My password is hunter2-Xq9!"
OTHER = "My password is s3cret-Tiger7!"
DIARY = f"The novel begins at sea. {PASSWORD} So says its hero."


def judged(level: int = 0, of: str = "m", day: float = 1, actor: str = "user") -> Told:
    return Told(SensitivitySet(memory_id=of, level=level, reason="out of a novel"), day, actor)


def level(*events: Told, of: str = "m") -> int:
    return folded(*events).memories[of].sensitivity


@each_row("actor", ACTORS)
def test_a_person_sets_the_level_and_nobody_else(actor: str) -> None:
    if actor in ("user", "operator"):
        assert level(created(PASSWORD), judged(actor=actor)) == 0
        return
    with pytest.raises(InvalidEvent) as refused:
        folded(created(PASSWORD), judged(actor=actor))
    assert (refused.value.field, refused.value.got) == ("actor", actor)


def test_the_change_log_tells_both_levels_and_no_word_of_the_reason() -> None:
    outcome = memory.given(created(PASSWORD)).when(judged(1))
    outcome.then(
        decision="sensitivity",
        reason="sensitivity 1, set by hand (it was 3)",
        fields=["sensitivity", "sensitivity_set_at"],
        changed={"sensitivity", "sensitivity_set_at"},
    )
    assert "novel" not in str(outcome.log)


SAME = {
    "the same words again": revised(DIARY, day=2),
    "a keyword out of them": revised(DIARY, day=2, keywords=(PASSWORD,)),
    "shorter": compressed("summary", day=2, content=PASSWORD),
    "a triple of them": Told(
        FactAsserted(subject="hero", predicate="password is", object="hunter2-Xq9!", evidence=("m",)), 2
    ),
}


@each_row("event", SAME.values(), ids=SAME)
def test_what_was_judged_is_not_raised_again_by_its_own_words(event: Told) -> None:
    assert level(created(DIARY), event) == 3  # the control: unjudged it stays a secret
    assert level(created(DIARY), judged(), event) == 0


NEW = {
    "other words": revised(OTHER, day=2),
    "another summary": revised(DIARY, day=2, summary=OTHER),
    "another keyword": revised(DIARY, day=2, keywords=(OTHER,)),
    "a text of another origin": compressed("full", day=2, content=OTHER),
    "a triple of something else": Told(
        FactAsserted(subject="My", predicate="password is", object="s3cret-Tiger7!", evidence=("m",)), 2
    ),
}


@each_row("event", NEW.values(), ids=NEW)
def test_what_is_new_is_looked_at_anew(event: Told) -> None:
    assert level(created(DIARY), judged(), event) == 3


def test_a_merge_is_as_sensitive_as_its_sources_and_what_it_newly_says() -> None:
    story = [created(DIARY), judged(), created("I like tea", "n")]
    assert level(*story, merged("m", "n", day=2, summary=DIARY), of="all") == 0
    assert level(*story, merged("m", "n", day=2, summary=OTHER), of="all") == 3
    secret = [created(DIARY), judged(), created("I like tea", "n", sensitivity=3)]
    assert level(*secret, merged("m", "n", day=2, summary=DIARY), of="all") == 3


def test_what_was_judged_is_shown_and_what_was_raised_is_withheld() -> None:
    def told(*events: Told) -> object:
        view = OwnerView.of_history("ada", folded(*events))
        found = view.get("m")
        assert isinstance(found, Memory)
        return detail(view, found, at(3))["memory"]

    assert told(created(PASSWORD)) == WITHHELD
    assert told(created(PASSWORD), judged()) == PASSWORD
    assert told(created("The usual place"), judged(3)) == WITHHELD


def test_of_what_is_gone_nothing_is_judged() -> None:
    story = memory.given(created(PASSWORD), deleted(day=1), purged(day=40, due=40))
    story.when(judged(day=41)).then(decision="ignored", reason="purged: only a tombstone is left")
