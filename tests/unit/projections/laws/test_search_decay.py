"""Decay does no harm: under every law review mode keeps the right answer first, and normal mode says where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.ranking.conversation import TERM_WEIGHTS
from engramlog_server.projections.ranking.rankings import WEIGHT_SHARE
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, accessed, created, mentioned, profile, reinforced
from tests.given.views import asked, found, viewed
from tests.rows import each_row

NEAR_MISSES, SINCE = 40, 200
"""How many memories share some of the right one's words, and the day on which they begin."""
LATER = (30, 180, 365)
"""Days after the last of them."""
BY_TEXT = ("conversation", "text")
"""Rankings in which decay orders what is else alike, and no more."""


class Case(NamedTuple):
    """A question, what answers it, and what only resembles that; `{}` stands for a number."""

    question: str
    right: str
    near: tuple[str, ...]


CASES = {
    "english": Case(
        "Where did I put my passport, in which folder?",
        "my passport is in the blue folder",
        ("today I saw folder number {} at work", "folder {} was put on the desk, where else", "did I put out bin {}?"),
    ),
    "chinese": Case(
        "我的护照放在哪个文件夹里？",
        "护照放在蓝色文件夹里了",
        ("今天在公司看到第{}个文件夹", "文件夹{}放在桌子上", "我把第{}本书放在家里"),
    ),
    "identifier": Case(
        "what came of ERR-1042?",
        "ERR-1042 was a broken cable",
        ("what came of ERR-10{}?", "ERR-{} was a broken fan", "what came of the cable in room {}?"),
    ),
    "day": Case(
        "What did I buy on 1 January 2024?",
        "I bought a red bicycle",
        ("I will buy {} bicycles one day", "what did I buy, {} bells?", "January is {} weeks away"),
    ),
}
cases = each_row("case", CASES.values(), ids=list(CASES))
by_words = each_row(
    "case", [CASES[name] for name in CASES if name != "day"], ids=[name for name in CASES if name != "day"]
)
"""Questions that share a word with what answers them."""
laws = each_row("law", sorted(LAWS))


def near_misses(case: Case) -> Iterator[Told]:
    """Fresh, and more and more of them confirmed, recalled and used."""
    for number in range(NEAR_MISSES):
        of, day = f"near-{number}", SINCE + number / 10
        text = case.near[number % len(case.near)].format(100 + number)
        yield created(text, of, day, category="identity" if number % 5 == 0 else "fact", confidence=0.9)
        if number % 2:
            yield mentioned(of, day + 0.2)
            yield accessed(of, day=day + 0.3, count=30)
            yield reinforced(of, day + 0.4, "task_success")


def story(case: Case, law: str, *more: Told) -> OwnerView:
    """An old answer that nobody came back to, and many fresh near misses."""
    return viewed(
        profile(law), created(case.right, "right", category="temporary", confidence=0.3), *near_misses(case), *more
    )


def ends(later: float) -> float:
    """The day so many days after the last of the near misses."""
    return SINCE + NEAR_MISSES / 10 + later


@cases
@laws
def test_review_mode_keeps_the_right_answer_first(case: Case, law: str) -> None:
    view = story(case, law)
    for later in (0, *LATER):
        assert next(iter(found(view, case.question, ends(later), mode="review"))) == "right"


@by_words
@laws
def test_what_normal_mode_withholds_is_named_and_found_by_the_mode_that_is_told(case: Case, law: str) -> None:
    view = story(case, law)
    for later in LATER:
        answer = asked(view, case.question, ends(later), include_faded=False)
        assert "right" not in [one["id"] for one in answer["results"]]
        (told,) = [one for one in answer["withheld"] if "right" in one["ids"]]
        assert told["reason"] in ("under_threshold", "compressed")
        assert told["ids"][0] == "right"
        assert told["count"] >= len(told["ids"])
        assert "right" in found(view, case.question, ends(later), mode=told["shown_by"])


def _scores(view: OwnerView, question: str, later: float, ranking: str) -> dict[str, dict[str, Any]]:
    results = found(view, question, ends(later), mode="review", ranking=ranking, limit=100)
    return {name: one["explain"]["score"] for name, one in results.items()}


@cases
@laws
@each_row("ranking", BY_TEXT)
def test_time_moves_only_the_weight_in_a_score_and_that_little_unless_the_memory_was_needed_again(
    case: Case, law: str, ranking: str
) -> None:
    view = story(case, law)
    first = _scores(view, case.question, 0, ranking)
    assert len(first) > 1
    for later in LATER:
        then = _scores(view, case.question, later, ranking)
        assert then.keys() == first.keys()
        for name, parts in then.items():
            weight, before = parts.pop("weight", 0.0), first[name].get("weight", 0.0)
            assert parts == {part: value for part, value in first[name].items() if part != "weight"}
            assert 0 <= weight <= before + 1e-6
            again = ranking == "conversation" and name.startswith("near-") and int(name.removeprefix("near-")) % 2
            assert before <= (TERM_WEIGHTS["weight"] if again else WEIGHT_SHARE)
