"""What a reviewer is asked, and the rule's answers: only identity, lasting preferences, skills and agreements become core."""

from __future__ import annotations

from engramlog_server.projections.lifecycle.review import ReviewDecision, answered, decided, questions, reviews
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Story,
    at,
    borne_out,
    created,
    folded,
    kept,
    memory,
    mentioned,
    moment,
    profile,
    reinforced,
)
from tests.rows import each_row

TIERED = memory.given(profile("tiered"))


def view_of(story: Story) -> OwnerView:
    return OwnerView.of_history("ada", folded(*story.events))


def risen(**data: object) -> Story:
    """One memory that uses have lifted to the promotion threshold."""
    return TIERED.given(created(day=-1, **data), *borne_out(day=1))


@each_row(
    ("kind", "category", "action"),
    [
        ("agreement", "fact", "promote"), ("decision", "fact", "promote"), ("约定", "fact", "promote"),
        ("agreement", "temporary", "keep"), ("agreement", "short_term_preference", "keep"), ("plan", "fact", "keep"),
        ("plan", "stable_preference", "keep"), ("计划", "identity", "keep"), ("fact", "fact", "keep"),
        ("fact", "skill", "promote"),
    ],
)  # fmt: skip
def test_an_agreement_is_promoted_and_a_plan_or_what_passes_is_not(kind: str, category: str, action: str) -> None:
    (one,) = reviews(view_of(risen(kind=kind, category=category)), at(2))
    assert (one.action, one.actor) == (action, "system")


def test_what_is_asked_tells_which_review_since_when_and_whether_again() -> None:
    story = TIERED.given(
        created(of="risen", importance=2.3),
        reinforced("risen", day=1),
        created(of="fallen", category="fact"),
        created(of="again", category="fact"),
        kept("again", day=25, due_at=moment(25)),
    )
    asked = questions(view_of(story), at(55))
    assert [(one.memory.id, one.review, one.due_at, one.asked_again) for one in asked] == [
        ("risen", "promotion", at(1), False),
        ("fallen", "decay", at(25), False),
        ("again", "decay", at(55), True),
    ]
    assert asked[0].as_dict() == {"id": "risen", "review": "promotion", "due_at": "2024-01-02T08:00:00Z"}


def test_an_answer_counts_while_its_question_stands_and_no_longer() -> None:
    story = TIERED.given(created(category="fact"))
    (question,) = questions(view_of(story), at(30))
    answers = {question.key: ReviewDecision("delete", "over", "judge")}
    (one,) = answered(view_of(story), at(31), answers)
    assert (one.action, one.actor, one.reason, one.due_at) == ("delete", "judge", "over", at(25))
    assert one == decided(question, answers[question.key])
    for meanwhile in (mentioned(day=30.5), reinforced(day=30.5), kept(day=30.5, due_at=moment(25))):
        assert answered(view_of(story.given(meanwhile)), at(31), answers) == []
