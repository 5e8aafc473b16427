"""How far a memory can be trusted, and that a lower source never overrides a higher one: what it would do waits for a person."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from engramlog_server.events.catalogue import ReviewSettled
from engramlog_server.events.trust import TRUSTS
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.fold.changelog import DECISIONS
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.memory.record import MAX_WAITING, Memory
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from tests.given.events import Told, at, created, deleted, folded, mentioned, merged, negated, parameters, revised
from tests.given.events import stored as entries
from tests.given.views import viewed
from tests.rows import each_row

DEGREES = created("The kiln fires at 1240 degrees", "kiln", 1)
SOURCES: dict[str, tuple[dict[str, Any], Trust]] = {
    "the user": ({}, "asserted"), "an operator": ({"actor": "operator"}, "asserted"),
    "an assistant": ({"actor": "assistant"}, "inferred"), "a judge": ({"actor": "judge", "source": "judge"}, "inferred"),
    "what an assistant concluded, told as the user's": ({"source": "assistant"}, "inferred"),
    "an older record": ({"actor": "system", "source": "import"}, "imported"),
    "the user, by a path that reaches less": ({"trust": "inferred"}, "inferred"),
    "a proposal": ({"actor": "assistant", "trust": "proposed"}, "proposed"),
}  # fmt: skip


def by(told: Told, trust: Trust | None, actor: str = "assistant") -> Told:
    """The same, said by somebody whose word goes so far."""
    return Told(told.data, told.day, actor, told.extra | ({} if trust is None else {"trust": trust}))


def said(text: str, of: str, day: float, trust: Trust | None = None, **fields: Any) -> Told:
    told = created(text, of, day, **fields)
    return told if trust is None else Told(told.data, told.day, told.actor, told.extra | {"trust": trust})


def memory(*told: Told, of: str = "kiln") -> Memory:
    return folded(*told).memories[of]


def notes(*told: Told, of: str = "kiln") -> list[tuple[str, str]]:
    return [(DECISIONS[one.decision], one.reason) for one in folded(*told).entries if one.memory_id == of]


def event_id(number: int, told: list[Told]) -> str:
    """The id of the n-th event."""
    return str(UUID(bytes=entries(told)[number].raw_id))


def shown(*told: Told, mode: Any = "normal", day: float = 5) -> set[str]:
    return {one["id"] for one in listing(ViewQuery(viewed(*told), at(day), mode), 100, 0)["memories"]}


@each_row("case", SOURCES)
def test_a_memory_is_trusted_as_far_as_whoever_said_it(case: str) -> None:
    fields, expected = SOURCES[case]
    assert TRUSTS[memory(said("The kiln is red", "kiln", 1, **fields)).trust] == expected


CHANGES = {
    "negated": negated("kiln", 2, resolution="latest_wins"),
    "revised": revised("The kiln fires at 1180 degrees", "kiln", 2),
    "deleted": deleted("kiln", 2),
}


@each_row("trust", ["proposed", "imported", "inferred"])
@each_row("change", CHANGES)
def test_what_a_lower_source_does_to_the_users_own_word_waits(change: str, trust: Trust) -> None:
    told = [DEGREES, by(CHANGES[change], trust)]
    after = memory(*told)
    assert (after.content, after.negated_at, after.deleted_at) == (memory(DEGREES).content, None, None)
    assert [str(UUID(bytes=one)) for one in after.waiting] == [event_id(1, told)]
    assert notes(*told)[-1] == ("wait", f"waits for a person: {trust}, and it is asserted")
    assert shown(*told) == {"kiln"}


def test_a_merge_waits_on_each_of_the_users_own_and_makes_nothing() -> None:
    told = [
        DEGREES,
        said("It fires at 1240", "note", 1, "inferred", actor="assistant"),
        by(merged("kiln", "note", day=2), "inferred"),
    ]
    done = folded(*told).memories
    assert "all" not in done
    assert (len(done["kiln"].waiting), done["note"].waiting, done["kiln"].merged_into) == (1, (), None)


def test_a_proposal_is_for_review_until_a_person_says_it() -> None:
    proposal = said("The kiln is haunted", "kiln", 1, "proposed", actor="assistant")
    assert [shown(proposal, mode=mode) for mode in MODES] == [set(), {"kiln"}, {"kiln"}]
    view = listing(ViewQuery(viewed(proposal), at(5), "normal"), 100, 0)
    assert {one["reason"]: one["count"] for one in view["withheld"]} == {"proposed": 1}
    likeness = mentioned("kiln", 2, similarity=0.8, turn_id="t")
    assert shown(proposal, likeness) == set(), "a likeness in a turn is nobody's word for it"
    assert shown(proposal, by(mentioned("kiln", 2), "inferred", "user")) == set()
    assert shown(proposal, mentioned("kiln", 2)) == {"kiln"}
    assert TRUSTS[memory(proposal, mentioned("kiln", 2)).trust] == "asserted"


def test_what_was_answered_waits_no_longer() -> None:
    told = [DEGREES, by(CHANGES["negated"], "inferred"), by(CHANGES["deleted"], "inferred")]
    first, second = event_id(1, told), event_id(2, told)
    settled = Told(ReviewSettled(memory_id="kiln", waiting=first, verdict="rejected"), 3)
    assert [str(UUID(bytes=one)) for one in memory(*told, settled).waiting] == [second]
    assert notes(*told, settled)[-1] == ("settle", "rejected")
    assert notes(*told, settled, settled)[-1] == ("ignored", "nothing of that id waits")
    lower = Told(settled.data, 3, "user", {"trust": "inferred"})
    assert notes(*told, lower)[-1] == ("ignored", "inferred: what waits for a person, a person answers")


def test_no_more_wait_than_the_most_and_one_more_is_told() -> None:
    told = [DEGREES, *(by(CHANGES["negated"], "inferred") for _ in range(MAX_WAITING + 1))]
    assert len(memory(*told).waiting) == MAX_WAITING
    assert notes(*told)[-1] == ("ignored", "8 changes of it wait for a person already, the most")


SAID_AGAIN = mentioned("kiln", 3)
NEGATION = negated("kiln", 2, resolution="latest_wins")


@each_row("trust", ["imported", "inferred"])
def test_a_lower_source_that_says_the_user_said_it_again_takes_back_no_negation_of_his_own(trust: Trust) -> None:
    told = [DEGREES, NEGATION, by(SAID_AGAIN, trust, "user")]
    after = memory(*told)
    assert (after.negated_at, shown(*told)) == (at(2), set())
    assert [str(UUID(bytes=one)) for one in after.waiting] == [event_id(2, told)]
    assert notes(*told)[-1] == ("wait", "the user negated it: that it holds again waits for him")
    assert shown(*told, mentioned("kiln", 4)) == {"kiln"}, "he says it himself"
    assert shown(*told, mentioned("kiln", 1)) == set(), "before he negated it he may have said anything"


@each_row("late", [False, True], ids=["first", "late"])
def test_a_flood_of_what_others_say_he_said_drives_out_neither_his_word_nor_his_negation(late: bool) -> None:
    flood = [by(mentioned("kiln", 5 + n / 100, turn_id=f"t{n}"), "inferred", "user") for n in range(40)]
    his = [mentioned("kiln", 4)]
    order = [*flood, *his] if late else [*his, *flood]
    assert shown(DEGREES, NEGATION, *order, day=6) == {"kiln"}
    after = memory(DEGREES, NEGATION, *order)
    assert [one.own for one in after.user_mentions].count(True) == 1
    ends = [by(negated("kiln", 3 + n / 100, resolution="latest_wins"), "inferred") for n in range(40)]
    low = said("The kiln fires at 1240 degrees", "kiln", 1, "inferred", actor="assistant")
    assert shown(low, *([*ends, NEGATION] if late else [NEGATION, *ends]), *flood, day=6) == set()


def test_where_so_set_what_is_said_in_conversation_takes_no_negation_back_and_waits() -> None:
    strict = parameters(talk_reaffirms=False)
    talk, plain = mentioned("kiln", 3, turn_id="t"), mentioned("kiln", 3)
    assert shown(DEGREES, NEGATION, talk) == {"kiln"}
    told = [strict, DEGREES, NEGATION, talk]
    assert (shown(*told), len(memory(*told).waiting)) == (set(), 1)
    assert shown(strict, DEGREES, NEGATION, plain) == {"kiln"}, "said of the memory itself"


def test_when_no_more_may_wait_the_mention_is_one_all_the_same() -> None:
    told = [DEGREES, NEGATION, *(by(mentioned("kiln", 3 + n / 10), "inferred", "user") for n in range(MAX_WAITING + 1))]
    assert len(memory(*told).waiting) == MAX_WAITING
    assert notes(*told)[-1] == ("reinforce", "mentioned; 8 changes of it wait for a person already, the most")


def test_what_was_read_in_his_turn_and_revised_since_by_another_is_no_word_of_his() -> None:
    turn = created("I like tea and more", "t1", 3, source_turns=("t1",))
    drawn = created("I like coffee", "d", 3, actor="judge", source="judge", source_turns=("t1",))
    low = Told(drawn.data, 3, "judge", {"trust": "inferred"})
    text = "The kiln fires at 1240 degrees"
    words = by(revised(text, "d", 5), "inferred")
    assert "d" not in shown(DEGREES, NEGATION, turn, low, words)
    own = Told(
        created(text, "d", 3, actor="judge", source="judge", source_turns=("t1",)).data,
        3,
        "judge",
        {"trust": "inferred"},
    )
    assert "d" in shown(DEGREES, NEGATION, turn, own), "read in his own turn it counts, as of that"
