"""Other words for a question: what is sent, what of an answer is looked for, and what a bad model costs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.language.text import empty_caches
from engramlog_server.projections.models.expansion import KEPT_SECONDS, MOST_KEPT, REST_SECONDS, Expander, cleaned
from tests.doubles.scripted_chat import ScriptedChat

QUESTION = "When did Caroline move house?"
TERMS = ["relocated to a new flat", "removal van"]


class Scene:
    """An expander whose clock and log are the test's."""

    def __init__(self, says: Callable[[dict[str, Any]], dict[str, Any]], seconds: float = 30.0) -> None:
        self.now = 0.0
        self.log: list[str] = []
        self.chat = ScriptedChat(says)
        self.expander = Expander("scripted-1", lambda: self.chat, self.tell, seconds=seconds, clock=lambda: self.now)

    def tell(self, fact: str, **facts: Any) -> None:
        self.log.append(f"{fact}: {facts['reason']}")

    def expand(self, query: str = QUESTION, owner: str = "ann") -> tuple[str, tuple[str, ...]]:
        return tuple(self.expander.expand(owner, query))  # type: ignore[return-value]


def honest(_asked: dict[str, Any]) -> dict[str, Any]:
    return {"terms": TERMS}


def test_a_question_is_asked_once_within_ten_minutes_and_its_words_are_forgotten_with_the_other_texts() -> None:
    scene = Scene(honest)
    assert scene.expand() == ("asked", tuple(TERMS))
    assert scene.expand() == ("kept", tuple(TERMS))
    assert scene.expand(owner="bob")[0] == "asked", "another owner's question is another question"
    scene.now = KEPT_SECONDS
    assert scene.expand()[0] == "asked"
    empty_caches()
    assert scene.expand()[0] == "asked"
    assert scene.chat.asked == 4 * [{"question": QUESTION}]


def test_what_is_kept_is_bounded() -> None:
    scene = Scene(honest)
    for number in range(MOST_KEPT + 1):
        scene.expand(f"{QUESTION} {number}")
    assert scene.expand(f"{QUESTION} 0")[0] == "asked"
    assert scene.expand(f"{QUESTION} {MOST_KEPT}")[0] == "kept"


@pytest.mark.parametrize(
    "query",
    [
        "My password is hunter2-Blue!9, what else uses it?",
        "What is at 12 Elm Street, London NW1 6XE?",
        "Is 4111 1111\n1111 1111 mine?",
    ],
)
def test_a_sensitive_question_goes_to_no_model(query: str) -> None:
    scene = Scene(honest)
    assert scene.expand(query) == ("private", ())
    assert scene.chat.asked == []


def test_a_question_without_a_word_to_look_for_goes_to_no_model() -> None:
    scene = Scene(honest)
    assert scene.expand("Hello?") == ("nothing", ())
    assert scene.chat.asked == []


def test_a_model_that_fails_is_logged_once_and_left_alone_for_a_minute() -> None:
    def fails(_asked: dict[str, Any]) -> dict[str, Any]:
        raise ModelFailed("the model endpoint x cannot be reached", down=True, usage=(1, 0, 0))

    scene = Scene(fails)
    assert [scene.expand(), scene.expand("Which bicycle does she ride?")] == 2 * [("failed", ())]
    assert scene.log == ["question not expanded: the model endpoint x cannot be reached"]
    scene.now, scene.chat.says = REST_SECONDS, honest
    assert scene.expand()[0] == "asked"


def test_an_answer_of_another_shape_is_a_failure() -> None:
    scene = Scene(lambda _asked: {"terms": "not a list"})
    assert scene.expand() == ("failed", ())
    assert scene.log == ["question not expanded: ValidationError"]


def test_a_slow_model_costs_the_bound_and_its_late_answer_is_kept() -> None:
    late, answered = Event(), Event()

    def slow(_asked: dict[str, Any]) -> dict[str, Any]:
        late.wait(30)
        return {"terms": TERMS}

    scene = Scene(slow, seconds=0.01)
    keep = scene.expander._room.release
    scene.expander._room.release = lambda: (keep(), answered.set())  # type: ignore[method-assign, assignment, func-returns-value]
    assert scene.expand() == ("timeout", ())
    assert scene.expand("Which bicycle does she ride?") == ("failed", ()), "it is left alone"
    late.set()
    assert answered.wait(30)
    while scene.expand()[0] != "kept":
        pass
    assert scene.log == ["question not expanded: no answer within 0.01 s"]


def test_only_short_lines_of_plain_new_words_are_looked_for() -> None:
    wrong = [
        "",
        "caroline moved",
        "x" * 81,
        "word " * 13,
        "<b>removal</b> van",
        "visit www.removals.example",
        "ask removals.example for it",
        "the van of 2023",
        "write to ann.smith@example.com",
        "her password is hunter2-Blue!9",
    ]
    found = cleaned([*wrong, "removal\n  van", "van removal", "new\u200b flat", "搬家", "fourth wording"], QUESTION)
    assert found == ("removal van", "new flat", "搬家")
