"""The page about language models: its program runs, and its figures are the code's."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from projections.models import model_chat
from projections.models.chat import ModelUsage
from projections.models.chat_wire import Output
from tests.doubles.model_endpoint import model_endpoint
from tests.places import ROOT

PAGE = (ROOT / "docs" / "models.md").read_text("utf-8")


def test_the_program_asks_a_model() -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "__main__"}
    with model_endpoint() as model:
        model.says({"lasting": True})
        exec(code.replace("http://127.0.0.1:11434/v1", model.url), names)
    assert (names["verdict"].lasting, names["usage"]) == (True, ModelUsage(1, 11, 7))


@pytest.mark.parametrize("mode", get_args(Output))
def test_every_output_mode_has_a_row(mode: str) -> None:
    assert re.search(rf"^\| `{mode}`", PAGE, re.MULTILINE)


def test_the_figures_are_those_of_the_code() -> None:
    assert (model_chat.ASKED_AGAIN, model_chat.LONGEST_WAIT) == (2, 60.0)
    assert "at most twice" in PAGE
    assert "more than a minute is not waited for" in PAGE
