"""`engramlog eval-pairs --model`: the figures of the rules, made of a language model's answers; what it fails at is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from api.cli.app import run
from api.evaluation.pairs import LabelledPair
from api.evaluation.pairs_by_model import evaluate_pairs_by_model
from events.errors import ModelFailed
from ops.main import main
from projections.models.chat import ModelUsage, fits
from tests.doubles.model_endpoint import ModelEndpoint, limited, model_endpoint, said
from tests.doubles.scripted import Asked

T = TypeVar("T")
LABELS = ("contradict", "neutral", "contradict", "entail")
WORDS = {"contradict": "contradicts", "neutral": "unrelated", "entail": "same"}


class Model:
    """Answers each request as its script says: `right`, `always` contradicts, or an error."""

    model = "scripted"

    def __init__(self, *script: str) -> None:
        self.script = list(script)
        self.requests = 0

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        how = self.script[min(self.requests, len(self.script) - 1)]
        self.requests += 1
        if how in ("down", "malformed"):
            raise ModelFailed(f"the model is {how}", down=how == "down", usage=(2, 50, 10))
        pairs = [
            {
                "id": one["id"],
                "relation": "contradicts" if how == "always" else WORDS[one["new"].split()[0]],
                "sure": True,
                "reason": how,
            }
            for one in json.loads(prompt)["pairs"]
        ]
        built = cast("Any", answer)(pairs=pairs)
        check(built)
        return built, ModelUsage(1, 100, 20)


def labelled(count: int) -> list[LabelledPair]:
    """Pairs whose new statement begins with its label."""
    labels = (LABELS[number % 4] for number in range(count))
    return [
        LabelledPair(str(number), f"known {number}", f"{label} {number}", label, "made", str(number))
        for number, label in enumerate(labels)
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    lines = ({"id": one.id, "a": one.known, "b": one.new, "label": one.label} for one in labelled(8))
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def refuse() -> Any:
    raise AssertionError("no store is opened")


def asked(model: Model, arguments: Sequence[str]) -> int:
    """The command with this model, as `ops` would join it."""
    return run(refuse, ["eval-pairs", *arguments], lambda: lambda: model)


def test_a_model_is_measured_as_the_rules_are(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(Model("right"), [str(file), "--model", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["all"] == {
        "pairs": 8, "opposed": 4, "found": 4, "sure": 4,
        "precision": 1.0, "recall": 1.0, "f1": 1.0, "accuracy": 1.0, "sure_precision": 1.0,
    }  # fmt: skip
    assert told["labels"]["entail"] == {"same": 2}
    assert (told["judge"], told["unanswered"], told["failures"]) == ("scripted", 0, [])
    assert told["usage"] == {"requests": 1, "input_tokens": 100, "output_tokens": 20}


def test_it_is_saved_and_compared_with_what_the_rules_had(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(file.parent / "rules.json")
    assert asked(Model("right"), [str(file), "--save", saved]) == 0
    assert "8 pairs, by rules" in capsys.readouterr().out
    assert asked(Model("always"), [str(file), "--model", "--against", saved]) == 0
    told = capsys.readouterr().out
    assert "by scripted" in told
    assert "1 requests, 100 tokens in, 20 out" in told
    assert "+1.000" in told  # the rules see no contradiction in these, so recall rises from nothing


@pytest.mark.parametrize(
    ("script", "answered", "requests", "failed"),
    [
        (("right", "malformed", "right"), 6, 3, [{"message": "the model is malformed", "requests": 1}]),
        (("right", "down", "right"), 4, 2, [{"message": "the model is down", "requests": 1}]),
        (("malformed", "malformed", "right"), 2, 3, [{"message": "the model is malformed", "requests": 2}]),
    ],
)
def test_what_has_no_answer_counts_for_nothing(
    script: tuple[str, ...], answered: int, requests: int, failed: list[dict[str, Any]]
) -> None:
    model = Model(*script)
    told = evaluate_pairs_by_model(labelled(10), model, batch=4)
    assert (told["all"]["pairs"], told["unanswered"]) == (answered, 10 - answered)
    assert told["all"]["f1"] == 1.0
    assert told["failures"] == failed
    assert model.requests == requests
    assert told["usage"]["requests"] == requests + sum(one["requests"] for one in failed)  # a failure took two


def test_pairs_without_an_answer_end_the_command_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "many.jsonl"
    lines = ({"a": one.known, "b": one.new, "label": one.label} for one in labelled(30))
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert asked(Model("right", "down"), [str(path), "--model"]) == 3
    told = capsys.readouterr().out
    assert "10 pairs have no answer and are in no figure" in told
    assert "the model is down" in told


@pytest.mark.parametrize("how", ["down", "malformed"])
def test_a_model_that_answers_nothing_at_all_is_an_error(
    how: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(Model(how), [str(file), "--model"]) == 1
    assert f"the model is {how}" in capsys.readouterr().err


def test_without_a_model_in_the_settings_it_says_what_to_set(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENGRAMLOG_MODEL", raising=False)
    assert main(["eval-pairs", str(file), "--model"]) == 2
    assert "ENGRAMLOG_MODEL" in capsys.readouterr().err


def test_progress_goes_up_to_all_pairs() -> None:
    seen: list[tuple[int, int]] = []
    evaluate_pairs_by_model(labelled(10), Model("right"), lambda done, total: seen.append((done, total)), batch=4)
    assert seen == [(4, 10), (8, 10), (10, 10)]


# --- over HTTP


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        monkeypatch.setenv("ENGRAMLOG_MODEL", "small")
        monkeypatch.setenv("ENGRAMLOG_MODEL_URL", running.url)
        yield running


def right(asked: Asked) -> dict[str, Any]:
    """A typed answer for every pair of the request, by its label."""
    told = str(asked.body["messages"][1]["content"])
    pairs = json.loads(told[told.index('{"pairs"') : told.rindex("}") + 1])["pairs"]
    return {
        "pairs": [
            {"id": one["id"], "relation": WORDS[one["new"].split()[0]], "sure": False, "reason": "by its label"}
            for one in pairs
        ]
    }


def test_a_model_behind_http_is_asked_again_where_it_names_pairs_that_are_not_there(
    endpoint: ModelEndpoint, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = {"pairs": [{"id": 99, "relation": "same", "sure": True, "reason": "ignore the pairs"}]}
    endpoint.says(strange)
    endpoint.replies += [limited(after=0), lambda asked: said(asked, right(asked))]
    assert main(["eval-pairs", str(file), "--model", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["judge"], told["unanswered"], told["all"]["f1"]) == ("small", 0, 1.0)
    assert told["usage"]["requests"] == len(endpoint.asked) == 3
    assert told["usage"]["input_tokens"] > 0
    assert "no such id: 99" in endpoint.prompts[-1]
    assert all("both cannot hold" in asked for asked in endpoint.prompts)


def test_a_model_that_only_ever_names_other_pairs_fails_and_gives_no_verdict(
    endpoint: ModelEndpoint, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.says({"pairs": []})
    assert main(["eval-pairs", str(file), "--model"]) == 1
    assert "ModelFailed" in capsys.readouterr().err
