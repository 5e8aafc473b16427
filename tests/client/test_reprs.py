"""How answers look in an interactive session."""

from __future__ import annotations

from engramlog.answers import Listing, Skipped
from tests.rows import each_row


def listing(text: str) -> Listing:
    memory = {
        "id": "m-01a22317-bd41-76a3-8573-d9942cfdb6fb",
        "memory": text,
        "level": "full",
        "category": "fact",
        "kind": "fact",
        "speaker": None,
        "source_turns": [],
        "trust": "asserted",
        "tier": "fact",
        "source": "user",
        "sensitivity": 1,
        "tags": [],
        "context": {"tags": [], "emotion": 0.0},
        "updated_at": "2026-11-28T16:58:08Z",
        "deleted_at": None,
        "waiting": [],
        "created_at": "2026-11-28T16:58:08Z",
        "last_activated_at": "2026-11-28T16:58:08Z",
        "mention_count": 1,
        "is_negated": False,
        "status": "live",
        "weight": 1.1,
    }
    place = {"position": "1:2", "as_of": None, "at": None, "mode": "normal", "sort": "activated", "order": "descending"}
    return Listing.decode({"memories": [memory] * 50, "total": 50, "offset": 0, "withheld": [], **place})


@each_row("text", ["I like jazz", "I like jazz. " * 500, "我在上海工作，" * 500, "jazz\n" * 500])
def test_the_repr_of_an_answer_and_of_its_memory_fits_three_lines_of_80_columns(text: str) -> None:
    answer = listing(text)
    for shown in (repr(answer), str(answer), repr(answer.memories[0])):
        assert sum(1 if sign.isascii() else 2 for sign in shown) <= 240
        assert "\n" not in shown


def test_the_repr_begins_with_what_matters_and_leaves_out_empty_fields() -> None:
    answer = listing("I like jazz")
    assert repr(answer).startswith("Listing(memories=[50: Listed(memory='I like jazz', id='m-01a22317")
    assert repr(answer.memories[0]).startswith(
        "Listed(memory='I like jazz', id='m-01a22317-bd41-76a3-8573-d9942cfdb6fb', "
    )
    assert "speaker" not in repr(answer.memories[0])


def test_the_repr_of_a_small_answer_has_every_field() -> None:
    assert repr(Skipped(id="t1", reason="core")) == "Skipped(id='t1', reason='core')"
