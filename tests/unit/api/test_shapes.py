"""The types that mypy checks services against are made of `engramlog.answers` and cost nothing at run time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engramlog_server.projections import shapes as at_run_time
from tests.made.answer_shapes import FILE, shapes
from tests.places import ROOT


def test_the_types_are_those_that_the_definitions_make() -> None:
    assert FILE.read_text("utf-8") == shapes(), "run `make client`"


def test_at_run_time_a_shape_is_a_plain_dict() -> None:
    shape = at_run_time.Why
    assert shape is dict


def test_what_is_no_shape_is_not_there() -> None:
    with pytest.raises(AttributeError):
        at_run_time.__path__  # noqa: B018


def test_mypy_sees_what_a_service_answers(tmp_path: Path) -> None:
    """A field that an answer has not, or that is of another type, is an error of types."""
    file = tmp_path / "asked.py"
    wrong = {
        'reader.why("a", "b")["wieght"]': "wieght",
        'reader.why("a", "b")["memory"]': 'got "str", expected "float"',
    }
    lines = [f"def weight{at}(reader: Reader) -> float:\n    return {one}\n" for at, one in enumerate(wrong)]
    file.write_text("\n\n".join(["from engramlog_server.api.services.reading import Reader\n", *lines]), "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert ran.returncode == 1
    assert [named for named in wrong.values() if named not in ran.stdout] == []
