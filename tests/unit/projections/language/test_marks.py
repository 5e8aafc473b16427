"""What is told of an event beside its body, by one marker for every log."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.events.envelope import NOTHING, Marks, decode
from engramlog_server.projections.language.orders import MARKER, WORDLESS, mark
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, level_of
from engramlog_server.projections.language.statements import STATEMENT_RULES, statements_of
from tests.places import ROOT
from tests.rows import each_row

GOLDEN = sorted((ROOT / "tests" / "golden" / "events").glob("*.json"))


@each_row("path", GOLDEN, ids=lambda path: path.stem)
def test_every_event_is_marked_with_its_level_and_what_it_states(path: Path) -> None:
    event = decode(path.stem, path.read_bytes())
    values = getattr(event.data, "values", ())
    assert mark(event) == Marks(level_of(event), statements_of(event), tuple(map(bytes.fromhex, values)))
    assert not (statements_of(event) and values)


def test_the_marker_names_the_versions_of_both_rules_and_each_fits_its_field() -> None:
    assert (LEVEL_RULES, STATEMENT_RULES, mark) == MARKER[:3]
    assert LEVEL_RULES >= 1
    assert 1 <= STATEMENT_RULES <= 255


def test_of_a_kind_that_is_not_read_nothing_would_have_been_found() -> None:
    kinds = {path.stem for path in GOLDEN}
    assert {"MemoryMentioned.1", "MemoryReinforced.1", "MemoriesLinked.1"} <= WORDLESS <= kinds
    for path in GOLDEN:
        if path.stem in WORDLESS:
            assert mark(decode(path.stem, path.read_bytes())) == NOTHING


@each_row("kind", ["MemoryCreated.1", "FactAsserted.1", "MemoryDeleted.1", "MemoriesAccessed.2", "MemoryMentioned.2"])
def test_what_holds_words_or_is_of_another_release_is_read(kind: str) -> None:
    assert kind not in WORDLESS
