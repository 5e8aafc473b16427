"""Chinese and English are equals: every word of the console has both, and every word that a screen asks for is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rows import each_row

CONSOLE = Path(__file__).parents[2] / "api" / "console"
PAIR = re.compile(r'^  "([^"]+)": \[\s*("(?:[^"\\]|\\.)*"),\s*("(?:[^"\\]|\\.)*"),?\s*\]', re.MULTILINE)
KEY = re.compile(r'^  "([^"]+)": \[', re.MULTILINE)
ASKED = re.compile(r'\bt\("([^"]+)"')
FILES = sorted((CONSOLE / "words").glob("*.js"))
HAN = re.compile(r"[\u4e00-\u9fff]")


def pairs() -> dict[str, tuple[str, str]]:
    return {key: (one, other) for file in FILES for key, one, other in PAIR.findall(file.read_text("utf-8"))}


@each_row("file", FILES, ids=lambda file: file.stem)
def test_every_word_is_there_in_both_languages(file: Path) -> None:
    text = file.read_text("utf-8")
    found = {key: (one, other) for key, one, other in PAIR.findall(text)}
    assert set(KEY.findall(text)) == set(found)
    assert [key for key, (one, other) in found.items() if len(one) < 3 or len(other) < 3] == []
    assert [
        key for key, (one, _) in found.items() if HAN.search(one) and key not in {"language.other", "language.label"}
    ] == []


def test_both_languages_fill_in_the_same() -> None:
    names = re.compile(r"\{(\w+)\}")
    assert {
        key for key, (one, other) in pairs().items() if set(names.findall(one)) != set(names.findall(other))
    } == set()


def test_no_screen_asks_for_a_word_that_is_nowhere() -> None:
    known = pairs().keys()
    files = [file for file in CONSOLE.rglob("*.js") if "lib" not in file.parts]
    missing = {(file.name, key) for file in files for key in ASKED.findall(file.read_text("utf-8")) if key not in known}
    assert missing == set()
