"""What a model is shown of an owner, and that what it claims waits for a person."""

from __future__ import annotations

from engramlog_server.projections.lifecycle.patterns import (
    MOST_PROPOSED,
    MOST_QUESTIONS,
    MOST_SHOWN,
    proposals,
    questions,
)
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.models.texts import Claim
from tests.given.events import (
    Story,
    Told,
    at,
    created,
    deleted,
    folded,
    in_conflict,
    memory,
    negated,
    rejected,
    revised,
    set_aside,
)
from tests.given.views import viewed

RUNS = memory.given(
    created("Ada ran along the river", "a", 0, category="fact"),
    created("Ada ran in the park", "b", 3, category="fact"),
    created("Ada ran ten kilometres", "c", 9, category="fact"),
)
CLAIM = Claim("Ada ran in many places", ("a", "b", "c"))
TEXTS = {"a": "Ada ran along the river", "b": "Ada ran in the park", "c": "Ada ran ten kilometres"}


def proposed(story: Story, *claims: Claim) -> list[tuple[str, ...]]:
    return [one.ids for one in proposals(viewed(*story.events), claims or (CLAIM,), TEXTS, "small")]


def carried_out(story: Story) -> Story:
    found = proposals(viewed(*story.events), (CLAIM,), TEXTS, "small")
    return story.given(*(Told(one.data, 9, one.actor, {"trust": one.trust}) for one in found))


def test_a_claim_is_proposed_by_the_model_and_shown_to_nobody_before_a_person_said_so() -> None:
    (one,) = proposals(viewed(*RUNS.events), (CLAIM,), TEXTS, "small")
    assert (one.trust, one.actor, one.model, one.correlation_id) == ("proposed", "judge", "small", "abstract:small")
    made = folded(*carried_out(RUNS).events).memories[one.ids[0]]
    assert (state_of(made), made.summarises) == (Columns.PROPOSED, ("a", "b", "c"))


def test_it_is_proposed_once_whatever_its_words_and_whatever_became_of_it() -> None:
    after = carried_out(RUNS)
    other = CLAIM._replace(statement="Ada is a runner")
    (name,) = [one for one in folded(*after.events).memories if one.startswith("pattern-")]
    for told in ((), (deleted(name, day=10),)):
        assert proposed(after.given(*told), CLAIM, other) == []


def test_evidence_that_changed_while_the_model_thought_makes_no_proposal() -> None:
    for told in (
        negated("b", day=10),
        deleted("b", day=10),
        revised("Ada walked in the park", "b", 10),
        in_conflict("a", "b", day=10),
    ):
        assert proposed(RUNS.given(told)) == []
    assert len(proposed(RUNS)) == 1
    assert proposed(RUNS, CLAIM._replace(evidence=("a", "b", "unknown"))) == []


def test_words_that_were_rejected_are_not_proposed() -> None:
    assert proposed(RUNS.given(rejected(CLAIM.statement, day=10))) == []


def test_it_is_shown_no_secret_nothing_deleted_set_aside_or_said_by_an_assistant() -> None:
    story = RUNS.given(
        created("my PIN is 4711", "s1", 1),
        created("I live at 12 Elm Street", "s2", 2, sensitivity=2),
        created("Ada ran to the sea", "s3", 4),
        deleted("s3", day=5),
        created("Ada likes to run", "s4", 4, "assistant", source="assistant"),
        created("I am Ada", "s5", 4, category="identity"),
    )
    (shown,) = questions(viewed(*story.events), at(20))
    assert [one.id for one in shown] == ["a", "b", "c"]
    assert questions(viewed(*RUNS.given(set_aside(None, day=10, actor="user")).events), at(20)) == []


def test_no_more_wait_than_rules_may_propose() -> None:
    many = memory.given(*(created(f"Ada ran, {n}", f"m{n}", n, category="fact") for n in range(3 * MOST_PROPOSED + 9)))
    claims = [Claim(f"Ada ran {n}", (f"m{3 * n}", f"m{3 * n + 1}", f"m{3 * n + 2}")) for n in range(MOST_PROPOSED + 3)]
    texts = {f"m{n}": f"Ada ran, {n}" for n in range(3 * MOST_PROPOSED + 9)}
    assert len(proposals(viewed(*many.events), claims, texts, "small")) == MOST_PROPOSED


def test_its_questions_are_bounded_and_each_is_about_one_speaker() -> None:
    story = memory.given(
        *(
            created(f"{who} ran, {n}", f"{who}{n}", n, speaker=who)
            for who in ("Ada", "Bob", "Cleo", "Dan", "Eve")
            for n in range(MOST_SHOWN + 5)
        )
    )
    found = questions(viewed(*story.events), at(90))
    assert [len(one) for one in found] == [MOST_SHOWN] * MOST_QUESTIONS
    assert all(len({one.id[:3] for one in shown}) == 1 for shown in found)
    assert questions(viewed(created("one day", "a"), created("same day", "b")), at(90)) == []
