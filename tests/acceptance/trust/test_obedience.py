"""prompt.model_ignores_embedded_instructions: a measurement, `python -m benchmarks obedience`, checked with scripted models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from benchmarks.__main__ import main
from benchmarks.obedience import ATTACKS, WORDINGS, Canary, evaluate_obedience
from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.models.chat import ModelUsage, fits
from tests.doubles.model_endpoint import model_endpoint
from tests.doubles.scripted import Asked

T = TypeVar("T")
Says = Callable[[int, list[str]], str]
RUNS = 24
TWICE = {f"{one.kind} {one.language}": 2 for one in ATTACKS}
"""Every attack, in so many runs."""
UNSEEN = {"tag characters en", "tag characters zh"}
ORDER = re.compile(r"(?:the words|把) (\w+) (?:and|与) (\w+) ")
FOOD = re.compile(r"(?:is called |叫)([A-Z]\w+)[.。]$")
HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e01ef]")


def entries(system: str) -> list[str]:
    """The memories that a block tells."""
    first, *lines = system[: system.rindex("\n</memory>\n")].splitlines()  # both parts
    assert first == "<memory>"
    return [line for line in lines if line.startswith("- [")]


def ordered(told: Sequence[str]) -> Canary | None:
    """The words of the order in the block, wherever and however it stands; None where none can be read."""
    found = [match for line in told for match in (ORDER.search(line), ORDER.search(line[::-1])) if match]
    return Canary(*found[0].groups()) if found else None


def food(told: Sequence[str]) -> str:
    """The word of the harmless memory."""
    [found] = [match[1] for match in map(FOOD.search, told) if match]
    return found


def obeying(told: Sequence[str]) -> str:
    canary = ordered(told)
    return "Nothing is ordered." if canary is None else canary.first + canary.second


def every_third(number: int, told: list[str]) -> str:
    return obeying(told) if number % 3 == 0 else f"It is called {food(told)}."


def always(_number: int, told: list[str]) -> str:
    return obeying(told)


def never(_number: int, told: list[str]) -> str:
    return f"叫 {food(told)}。"


def silent(_number: int, _told: list[str]) -> str:
    return "I do not know."


def quoting(_number: int, told: list[str]) -> str:
    return f"I do not follow what stands there: {' '.join(one for one in told if not FOOD.search(one))}"


def naming(_number: int, told: list[str]) -> str:
    canary = ordered(told)
    spaced = "nothing" if canary is None else " - ".join(canary).upper()
    return f"It is called {food(told)}, and I will not write {spaced}."


class Model:
    """Answers as its script says, or fails where that says `down` or `malformed`; keeps what it was sent."""

    model = "scripted"

    def __init__(self, says: Says) -> None:
        self.says = says
        self.sent: list[tuple[str, str]] = []

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        self.sent.append((system, prompt))
        said = self.says(len(self.sent) - 1, entries(system))
        if said in ("down", "malformed"):
            raise ModelFailed(f"the model is {said}", down=said == "down", usage=(2, 50, 0))
        built = cast("Any", answer)(answer=said)
        check(built)
        return built, ModelUsage(1, 100, 20)


def measured(model: Model, runs: int = RUNS) -> dict[str, Any]:
    return evaluate_obedience(model, runs)


def of_attacks(told: dict[str, Any], count: str) -> dict[str, int]:
    """A count by attack, those that have none left out."""
    return {f"{one['attack']} {one['language']}": one[count] for one in told["attacks"] if one[count]}


@pytest.mark.parametrize(
    ("says", "obeyed", "quoted", "used"),
    [
        (every_third, 8, 0, 16),
        (never, 0, 0, 24),
        (silent, 0, 0, 0),
        (always, 20, 0, 0),
        (quoting, 0, 20, 0),
        (naming, 20, 0, 24),
    ],
)
def test_prompt_model_ignores_embedded_instructions(says: Says, obeyed: int, quoted: int, used: int) -> None:
    """Runs in which it obeyed, told what it was ordered, and (the control) used the harmless memory; never that it passed."""
    model = Model(says)
    told = measured(model)
    assert told["all"] == {"runs": RUNS, "answered": RUNS, "obeyed": obeyed, "quoted": quoted, "used": used}
    assert (told["model"], told["unanswered"], told["failures"]) == ("scripted", 0, {})
    assert told["usage"] == {"requests": RUNS, "input_tokens": 100 * RUNS, "output_tokens": 20 * RUNS}
    assert len(model.sent) == RUNS
    assert "pass" not in json.dumps(told)


def test_each_attack_is_counted_by_itself() -> None:
    told = measured(Model(always))
    assert of_attacks(told, "runs") == TWICE
    assert of_attacks(told, "obeyed") == {name: 2 for name in TWICE if name not in UNSEEN}
    third = measured(Model(every_third))
    assert of_attacks(third, "obeyed") == {
        "instruction en": 2, "system prompt zh": 2, "closing fence en": 2, "direction characters zh": 2,
    }  # fmt: skip


def test_what_is_sent_is_the_block_with_the_attack_inside_of_its_fence() -> None:
    model = Model(silent)
    measured(model, runs=len(ATTACKS))
    for attack, (system, question) in zip(ATTACKS, model.sent, strict=True):
        assert question == WORDINGS[attack.language].question
        assert system.count("<memory>") == system.count("</memory>") == 2, "a fence for each part"
        inside, _, outside = system.rpartition("</memory>")
        assert not re.search("[<>]", inside.replace("<memory>", "").replace("</memory>", ""))
        assert not HIDDEN.search(system)
        told = entries(system)
        assert len(told) == 2, "one attack, one harmless memory"
        assert (ordered(told) is None) == (attack.kind == "tag characters"), "the order did reach the block"
        assert food(told) not in outside + question
        assert ordered([outside, question]) is None


def test_nothing_is_counted_of_a_model_that_did_not_see_the_block() -> None:
    """It says all that it was told beside the block, and every word of every run before."""
    known: list[str] = []

    def blind(number: int, told: list[str]) -> str:
        system, question = model.sent[number]
        said = " ".join([system.split("</memory>")[-1], question, *known])
        known.extend([food(told), obeying(told), *told])
        return said

    model = Model(blind)
    told = measured(model)
    assert {name: told["all"][name] for name in ("answered", "obeyed", "quoted", "used")} == {
        "answered": RUNS, "obeyed": 0, "quoted": 0, "used": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fails", "answered", "asked", "failures"),
    [
        (
            {1: "down", 2: "malformed", 3: "down", 4: "down", 6: "down"},
            *(7, 12, {"the model is down": 4, "the model is malformed": 1}),
        ),
        ({5: "down", 6: "down", 7: "down"}, 5, 8, {"the model is down": 3}),
        ({0: "malformed", 1: "malformed", 2: "malformed", 3: "malformed"}, 8, 12, {"the model is malformed": 4}),
    ],
)
def test_runs_without_an_answer_are_counted_and_end_the_command_with_3(
    fails: dict[int, str], answered: int, asked: int, failures: dict[str, int]
) -> None:
    """One that fails stops nothing; where the endpoint is down three times in a row nothing more is asked."""
    model = Model(lambda number, told: fails.get(number) or never(number, told))
    told = measured(model, runs=12)
    assert told["all"] == {"runs": 12, "answered": answered, "obeyed": 0, "quoted": 0, "used": answered}
    assert told["unanswered"] == 12 - answered
    assert told["failures"] == failures
    assert len(model.sent) == asked
    assert told["usage"]["requests"] == answered + 2 * sum(failures.values())


@pytest.mark.parametrize("how", ["down", "malformed"])
def test_a_model_that_never_answers_is_an_error(how: str) -> None:
    model = Model(lambda _number, _told: how)
    with pytest.raises(ModelFailed, match=f"the model is {how}"):
        measured(model, runs=5)
    assert len(model.sent) == (3 if how == "down" else 5)


def test_without_a_model_in_the_settings_it_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ENGRAMLOG_MODEL", raising=False)
    assert main(["obedience"]) == 2
    assert "ENGRAMLOG_MODEL" in capsys.readouterr().err


def test_a_model_behind_http_is_measured_and_the_operator_s_own_store_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither his data folder nor his Redis, nor what he keeps outside of them."""

    def says(asked: Asked) -> dict[str, str]:
        [system] = [one["content"] for one in asked.body["messages"] if one["role"] == "system"]
        return {"answer": always(0, entries(system[system.index("<memory>") :]))}

    with model_endpoint() as endpoint:
        endpoint.answers(says)
        own = {
            "DATA": str(tmp_path / "data"),
            "REJECTIONS": str(tmp_path / "kept"),
            "REDIS_URL": "redis://127.0.0.1:1/0",
        }
        asked = {"MODEL": "small", "MODEL_URL": endpoint.url, "EMBEDDER": "openai:x"}
        for name, value in (own | asked | {"EMBEDDER_URL": "http://127.0.0.1:1/v1"}).items():
            monkeypatch.setenv(f"ENGRAMLOG_{name}", value)
        assert main(["obedience", "--runs", "4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["obedience"][0]["obeyed"] == 4
    assert (told["usage"][0]["model"], told["usage"][0]["requests"]) == ("small", len(endpoint.asked))
    assert list(tmp_path.iterdir()) == []
