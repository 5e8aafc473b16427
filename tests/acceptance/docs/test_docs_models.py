"""The page about language models: its program runs, and its figures are the code's."""

from __future__ import annotations

import re
from typing import Any

from engramlog_server.projections.models.chat import ModelUsage
from tests.doubles.model_endpoint import model_endpoint
from tests.places import ROOT

PAGE = (ROOT / "docs" / "how-to" / "models.md").read_text("utf-8")


def test_the_program_asks_a_model() -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "__main__"}
    with model_endpoint() as model:
        model.says({"lasting": True})
        exec(code.replace("http://127.0.0.1:11434/v1", model.url), names)
    assert (names["verdict"].lasting, names["usage"]) == (True, ModelUsage(1, 11, 7))
