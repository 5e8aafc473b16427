"""Regular expressions that are compiled at first use."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import engramlog_server.projections
from engramlog_server.projections.language.patterns import Expression, regex

ROOT = Path(__file__).parents[4]


def expressions() -> list[Expression]:
    """Every expression of the modules of the package."""
    for module in walk_packages(engramlog_server.projections.__path__, "engramlog_server.projections."):
        import_module(module.name)
    gc.unfreeze()  # what stood when the tests were collected is looked through too
    try:
        return [one for one in gc.get_objects() if issubclass(type(one), Expression)]
    finally:
        gc.freeze()


def test_every_expression_is_one() -> None:
    waiting = expressions()
    assert len(waiting) > 400
    for one in waiting:
        assert re.compile(one.pattern).groups == one.groups, one


def test_it_finds_what_a_compiled_one_finds() -> None:
    late, compiled = regex(r"(?P<word>[a-z]+)\d?", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)\d?", re.IGNORECASE)
    text = "One2 three"
    assert [found.span() for found in late.finditer(text)] == [found.span() for found in compiled.finditer(text)]
    assert late.sub("-", text) == compiled.sub("-", text) == "- -"
    assert (late.pattern, late.flags, late.groupindex) == (compiled.pattern, compiled.flags, compiled.groupindex)


def test_what_a_compiled_one_has_not_it_has_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'serach'"):
        regex("x").serach("x")  # type: ignore[attr-defined]


def test_importing_the_rules_of_both_languages_compiles_none_and_reads_no_list() -> None:
    script = (
        "import gc\n"
        "import engramlog_server.projections.language.extraction.rules\n"
        "import engramlog_server.projections.language.contradiction.relation\n"
        "import engramlog_server.projections.language.sensitivity.level, engramlog_server.projections.memory.record\n"
        "from engramlog_server.projections.language.patterns import Expression\n"
        "from engramlog_server.projections.language.lexicon import rows\n"
        "print([one for one in gc.get_objects() if type(one) is Expression], rows.cache_info().currsize)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", script], check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True
    )
    assert (ran.stdout.decode().strip(), ran.stderr.decode()) == ("[] 0", "")
