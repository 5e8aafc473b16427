"""What models propose rests on what was said: no lie of theirs is kept, and few honest words are refused."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.lifecycle.extraction import unread_turns
from engramlog_server.projections.lifecycle.judge.known import Candidates
from engramlog_server.projections.lifecycle.judge.proposals import Answer, Operation, judge_proposed, stated, talk_about
from engramlog_server.projections.lifecycle.judge.statements import Verdict
from engramlog_server.projections.memory.working_memory import Said
from tests.doubles.model_proposals import HONEST, LIES, Proposed
from tests.given.events import created
from tests.given.said import reply
from tests.given.said import turn as recorded
from tests.given.views import viewed
from tests.rows import each_row
from tests.unit.projections.lifecycle.judge.test_proposing import turn

MOST_REFUSED = 0.1
"""Of what an honest model says."""


def judged(proposed: Proposed, *said: Said, **more: Any) -> Verdict:
    """The verdict on one operation about a turn, where one memory is known that the model was shown."""
    operation, text, quote, content, known = proposed
    told = [] if known is None else [created(known, "k", -400, kind="fact", category="fact", source="judge")]
    view = viewed(*told, turn(text))
    unread = tuple(unread_turns(view))
    talk = talk_about(unread, said, Candidates(view), frozenset(), "UTC")
    there = Candidates(view).get("k")
    talk = talk._replace(known={} if there is None else {"M1": there})
    key = next(one.key for one in talk.shown if one.new)
    answer = {"operation": operation, "turn": key, "quote": quote or text, "content": content, "category": "identity",
              "memory": None if operation == "ADD" else "M1"} | more  # fmt: skip
    found = judge_proposed(talk, Answer.model_validate({"operations": [answer]}), unread, view, "m")
    return next(one for one in found if one.statement.kind != "question")


@each_row("lie", LIES, ids=[f"{one[0]} {one[1][:40]}" for one in LIES])
def test_a_lie_changes_nothing_that_is_known_and_adds_nothing(lie: Proposed) -> None:
    found = judged(lie)
    told = {type(decision.data).__name__ for decision in found.decisions}
    allowed = set() if lie[0] == "ADD" else {"MemoryCreated", "MemoriesLinked"}
    assert told <= allowed, (found.operation, found.reason)


def test_of_what_an_honest_model_says_few_operations_are_refused() -> None:
    refused = [(one, found.reason) for one in HONEST if (found := judged(one)).operation == "SKIP"]
    assert len(refused) <= MOST_REFUSED * len(HONEST), refused


ASSISTANT = [
    ("Nice weather today", "User lives in Paris with a dog", "You live in Paris with a dog, right?"),
    ("今天天气不错", "用户住在巴黎养了一只狗", "你住在巴黎，养了一只狗。"),
    ("I like the weather", "User lives in Paris", "You live in Paris, I believe."),
]


@each_row(("text", "content", "before"), ASSISTANT)
def test_what_only_an_assistant_said_is_not_kept_unless_its_user_says_yes(text: str, content: str, before: str) -> None:
    spoken = [reply(0, before, session=None), recorded(2, text, session=None, turn_id="t1")]
    assert judged(("ADD", text, "", content, None), *spoken).operation == "SKIP"
    assert judged(("ADD", "Yes", "", content, None), spoken[0]).operation == "ADD"
    assert judged(("ADD", "No", "", content, None), spoken[0]).operation == "SKIP"


TRIPLES = [
    ("User", "sends money to", "Mallory", False), ("User", "hates", "opera", False), ("User", "loves", "opera", True),
    ("User", "password", "hunter2-Xy9", False),
]  # fmt: skip


@each_row(("subject", "predicate", "thing", "negation"), TRIPLES)
def test_a_triple_says_what_its_content_says_or_is_left_out(
    subject: str, predicate: str, thing: str, negation: bool
) -> None:
    told = {"subject": subject, "predicate": predicate, "object": thing, "negation": negation}
    found = judged(("ADD", "I love opera", "", "User loves opera", None), triple=told)
    assert [type(one.data).__name__ for one in found.decisions] == ["MemoryCreated"]


def test_what_stands_in_code_or_in_quoted_lines_is_no_ground() -> None:
    for text in ("look:\n```\nI am an admin\n```\nok", "> I am an admin\nwhat is that"):
        found = judged(("ADD", text, "I am an admin", "User is an admin", None))
        assert (found.operation, "quoted or shared" in found.reason) == ("SKIP", True)


@each_row(
    ("content", "claimed", "kept"),
    [
        ("User is tired today", "identity", "temporary"),
        ("User likes tea right now", "stable_preference", "short_term_preference"),
        ("用户现在喜欢喝茶", "stable_preference", "short_term_preference"),
        ("User likes tea", "stable_preference", "stable_preference"),
        ("User flies to Rome tomorrow", "temporary", "temporary"),
    ],
)
def test_what_passes_is_no_lasting_category_whatever_a_model_calls_it(content: str, claimed: str, kept: str) -> None:
    view = viewed(turn(content))
    (heard,) = unread_turns(view)
    operation = Operation.model_validate(
        {"operation": "ADD", "turn": "T1", "quote": content, "content": content, "category": claimed}
    )
    assert stated(operation, heard).category == kept
