"""Putting questions in other words where something goes wrong, or is about to leave that may not."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.language.sensitivity.text_level import SENSITIVE, detect_sensitivity
from projections.models.expander import (
    AT_ONCE,
    KEPT_SECONDS,
    LOADING_SECONDS,
    MOST_WAITING,
    REST_SECONDS,
    ExpansionBounds,
    ExpansionFound,
)
from tests.doubles.expander_scene import QUESTION, SAID, TERMS, Scene, failing
from tests.examples import examples
from tests.patience import PATIENCE


def test_once_closed_it_asks_nobody_and_keeps_nothing_and_its_timer_is_gone() -> None:
    scene = Scene()
    scene.ask()
    scene.expander.close()
    assert (scene.expander._kept, scene.timers) == ({}, [])
    assert scene.ask().status == "failed"
    assert len(scene.chat.asked) == 1


def test_a_question_that_was_about_to_be_sent_when_it_was_closed_is_not() -> None:
    scene = Scene()
    scene.at_once = False
    scene.ask()
    scene.expander.close()
    scene.answer()
    assert (scene.chat.asked, scene.expander._kept, scene.expander._begun, scene.told) == ([], {}, {}, [])


HIDDEN_BY_LINES = [
    "Whose is the card 4111 1111\n1111 1111?", "谁的电话 138\n1234\n5678？", "What is AKIA\nIOSFODNN7EXAMPLE for?",
    "Whose is the card 4111 1111\u20281111 1111?", "my password is hunter2hunter2" + " what else" * 200,
]  # fmt: skip


@settings(max_examples=examples(100))
@given(
    st.sampled_from(["4111 1111 1111 1111", "AKIAIOSFODNN7EXAMPLE", "ann@example.org", "我的密码是 hunter2hunter2"]),
    st.text(alphabet="ab 家\n\r\u2028\x0b\t", max_size=40),
    st.integers(1, 12),
)
def test_nothing_that_is_sent_is_sensitive_wherever_its_lines_end(secret: str, around: str, at: int) -> None:
    scene = Scene()
    scene.ask(f"{around} {secret[:at]}\n{secret[at:]} {around}")
    assert [one for one in scene.chat.asked if detect_sensitivity(one["question"]) >= SENSITIVE] == []


def test_the_owner_is_asked_last_and_may_keep_a_question_back() -> None:
    scene = Scene()
    assert scene.expander.expand("ann", QUESTION, lambda: "off").status == "off"
    assert scene.expander.expand("ann", HIDDEN_BY_LINES[0], lambda: pytest.fail("asked in vain")).status == "private"
    assert scene.chat.asked == []


def test_where_no_thread_starts_the_question_goes_as_it_is_and_nothing_is_left() -> None:
    scene = Scene(per_minute=1)
    scene.threadless = True
    assert scene.ask().status == "failed"
    assert (scene.expander._begun, len(scene.told)) == ({}, 1)
    scene.threadless = False
    assert scene.ask().status == "asked"


def test_where_no_timer_starts_nothing_is_kept_and_who_waits_has_his_answer() -> None:
    scene = Scene()
    scene.timerless = True
    assert (scene.ask(), scene.expander._kept) == (ExpansionFound("asked", TERMS), {})
    scene.timerless = False
    scene.ask()
    assert scene.ask().status == "kept"
    scene.timerless = True
    scene.pass_time(KEPT_SECONDS - 1)
    scene.ask("Who is the lessor?")
    scene.pass_time(1)
    assert scene.expander._kept == {}
    scene.timerless = False
    scene.ask()
    assert len(scene.timers) == 1


def test_a_client_that_ends_its_thread_leaves_nothing_behind() -> None:
    scene = Scene()
    scene.at_once = False

    def says(_asked: dict[str, Any]) -> dict[str, Any]:
        raise SystemExit

    scene.chat.says = says
    scene.ask()
    with pytest.raises(SystemExit):
        scene.answer()
    assert (scene.expander._begun, scene.expander.failing is not None) == ({}, True)


def test_so_many_answers_wait_at_once_and_no_more() -> None:
    scene = Scene()
    scene.at_once = False
    scene.expander.bounds = ExpansionBounds(PATIENCE, 100)
    found: list[ExpansionFound] = []
    threads = [Thread(target=lambda: found.append(scene.ask())) for _ in range(MOST_WAITING)]
    for thread in threads:
        thread.start()
    while scene.expander._waiting < MOST_WAITING or not scene.waiting:
        threads[0].join(0.001)
    assert [scene.ask().status, scene.ask("Who is the lessor?").status] == ["limit"] * 2
    scene.answer()
    for thread in threads:
        thread.join(PATIENCE)
    assert ([one.terms for one in found], scene.expander._waiting) == ([TERMS] * MOST_WAITING, 0)


def test_several_that_fail_together_fail_once() -> None:
    scene = Scene(failing(down=True))
    scene.at_once = False
    for number in range(AT_ONCE):
        scene.ask(f"Where is house {number}?")
    scene.answer()
    scene.pass_time(REST_SECONDS)
    assert scene.expander.failing is None
    scene.at_once = True
    scene.ask()
    scene.pass_time(2 * REST_SECONDS - 0.1)
    assert scene.expander.failing is not None
    scene.pass_time(0.1)
    assert scene.expander.failing is None


def test_a_late_answer_says_that_the_model_is_there_again() -> None:
    scene = Scene(failing(down=True))
    scene.at_once = False
    scene.ask()
    scene.ask("Who is the lessor?")
    first, second = scene.waiting
    first()
    assert scene.expander.failing is not None
    scene.chat.says = lambda _asked: SAID
    second()
    assert (scene.expander.failing, scene.expander._rest) == (None, REST_SECONDS)


def test_a_command_by_itself_asks_where_a_question_waits_long_enough_to_load_the_client() -> None:
    scene = Scene(stays=False)
    found = scene.ask()
    assert (found.status, "by itself" in (found.kind or ""), scene.chat.asked) == ("timeout", True, [])
    scene.expander.bounds = ExpansionBounds(LOADING_SECONDS, 100)
    assert scene.ask().status == "asked"


def test_who_asks_learns_what_kind_of_failure_it_is_and_the_operator_which() -> None:
    scene = Scene(failing(down=True))
    found = scene.ask()
    assert found.kind == "the model does not answer"
    assert (scene.expander.failing, scene.told[0][1]["reason"]) == (found.why, found.why)
