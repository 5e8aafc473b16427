"""An export imported for another owner gives the same memories again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from hypothesis import given, settings

from engramlog_server.api.choices import ASKED_FOR
from engramlog_server.api.exchange.export import ExportOptions, selection
from engramlog_server.api.exchange.records import RecordOptions, import_records
from engramlog_server.events.catalogue import Imported
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import Told, created, deleted, folded, in_conflict, memory, moment
from tests.given.exports import LIVED, SECRET, export_lines, exported, imported, view_of
from tests.given.histories import histories
from tests.given.records import new_log

CARRIED = [
    "content", "summary", "category", "kind", "tier", "importance", "confidence", "source", "speaker", "keywords",
    "tags", "emotion", "project", "task", "session", "sensitivity", "verified", "source_turns", "corrects",
    "summarises", "created_at", "updated_at", "access_count", "last_accessed_at", "mention_count", "stability",
    "last_reinforced_at", "reinforce_count", "decay_rate",
]  # fmt: skip


def test_an_export_imported_for_another_owner_folds_into_the_same_memories() -> None:
    before = {one.id: one for one in selection(view_of(LIVED.events)).memories}
    answer, view = imported(exported(LIVED))
    after = {one.id: one for one in view.columns}
    assert (answer.done.appended, set(after)) == (2, set(before))
    for name in CARRIED:
        assert {i: getattr(one, name) for i, one in after.items()} == {
            i: getattr(one, name) for i, one in before.items()
        }


def test_what_an_older_record_brought_goes_there_and_back() -> None:
    brought = Imported(access_count=5, reinforce_count=0, decay_rate=0.7, stability=48.0, last_accessed_at=moment(7))
    story = memory.given(created(source="import", imported=brought))
    [before], [after] = selection(view_of(story.events)).memories, imported(exported(story))[1].columns.memories
    assert [getattr(after, name) for name in CARRIED] == [getattr(before, name) for name in CARRIED]


def test_importing_an_export_again_appends_nothing() -> None:
    told = [orjson.dumps(line) for line in exported(LIVED)]
    log = new_log()
    first, again = (import_records(log, told, RecordOptions(owner="bo")).done for _ in range(2))
    assert (first.appended, again.appended, again.already_appended) == (2, 0, 2)


def test_what_an_import_would_bring_back_to_life_stays_out_of_it() -> None:
    story = LIVED.given(created(of="gone"), deleted("gone", day=9), in_conflict("m", "tea", day=9))
    answer, view = imported(exported(story, include=ASKED_FOR))
    assert (answer.skipped, {one.id for one in view.columns}) == ({"deleted": 1}, {"m", "tea"})


def test_a_revealed_secret_is_a_secret_again() -> None:
    assert imported(exported(memory.given(created(SECRET)), reveal=True))[1].columns.memories[0].sensitivity == 3


@given(histories)
@settings(max_examples=examples(60))
def test_whatever_happened_the_lines_of_what_stands_come_back_the_same(events: list[Told]) -> None:
    view = OwnerView.of_history("ada", folded(*events))
    lines = list(export_lines(view, ExportOptions(reveal=True)))
    answer, back = imported(lines)
    assert (answer.exit_code, answer.records) == (0, len(lines))
    assert _by_id(export_lines(back, ExportOptions(reveal=True))) == _by_id(lines)


def _by_id(lines: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {line["memory_id"]: line for line in lines}
