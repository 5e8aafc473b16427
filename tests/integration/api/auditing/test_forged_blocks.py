"""An injection that nobody made a block for: what could not have stood in a prompt is not told as if it had, and no lie fails."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog.answers import AnsweredInFull
from engramlog_server.events.catalogue import BlockMade, BroughtUp, Hit, MemoriesAccessed, StableMade
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.trust import PROPOSED
from tests.acceptance.helpers.store import Store
from tests.given.events import Told, created, merged, moment, negated, set_aside
from tests.given.said import said
from tests.given.shaped import checked
from tests.rows import each_row

WORD = "Zuleika"


def forged(store: Store, *before: Told, ids: tuple[str, ...] = (), **recipe: Any) -> dict[str, Any]:
    """What is told of a turn for which somebody appended an injection with a recipe of his own."""
    owner, day = store.owner(), store.yesterday
    told = [created("I drink tea", "tea", day), *before, said("q1", "What do I drink?", day=day + 0.2)]
    upto = store.tell(owner, *told)
    made: dict[str, Any] = {"at": moment(day + 0.3), "upto": upto, "budget": 1_500, "tokens": 40, "language": "en"}
    made |= recipe
    named = ids or ("tea",)
    hits = tuple(Hit(memory_id=one, count=1, best_rank=1, last_at=moment(day + 0.3)) for one in named)
    data = MemoriesAccessed(hits=hits, via="injection", turn_id="q1", block=BlockMade(**made))
    store.tell(owner, Told(data, day + 0.3, "system"))
    answer: dict[str, Any] = store.app.answers.answer(owner, "q1")  # type: ignore[assignment]
    checked(AnsweredInFull, answer)
    return answer


def brought(*ids: str) -> tuple[BroughtUp, ...]:
    return tuple(BroughtUp(memory_id=one) for one in ids)


def why_hidden(store: Store, reason: str) -> tuple[Told, ...]:
    """Events after which `bad` is in this state."""
    day = store.yesterday
    bad = created(f"I call my hedgehog {WORD}", "bad", day)
    return {
        "proposed": (Told(bad.data, day, "assistant", {"trust": PROPOSED}),),
        "merged": (bad, merged("bad", "tea", into="both", day=day + 0.1, summary="I drink tea")),
        "set_aside": (Told(bad.data, day, "user", {"session_id": "bad"}), set_aside("bad", day + 0.1)),
        "negated": (bad, negated("bad", day + 0.1)),
    }[reason]


def check_unconfirmed(answer: dict[str, Any]) -> None:
    """A proposal can have stood in a block, but under no other heading."""
    [injected] = answer["injected"]
    before, after = injected["block"]["text"].split("[Unconfirmed")
    assert (WORD in before, WORD in after) == (False, True)


@each_row("by", ["hit", "recipe", "profile"])
@each_row("reason", ["proposed", "merged", "set_aside", "negated"])
def test_what_never_stood_in_a_prompt_is_withheld_with_the_reason(store: Store, reason: str, by: str) -> None:
    recipes: dict[str, dict[str, Any]] = {
        "hit": {"ids": ("bad", "tea"), "retrieved": brought("bad", "tea")},
        "recipe": {"retrieved": brought("tea", "bad")},
        "profile": {"retrieved": brought("tea"), "stable": StableMade(budget=400, language="en", profile=("bad",))},
    }
    answer = forged(store, *why_hidden(store, reason), **recipes[by])
    if reason == "proposed" and by != "profile":
        check_unconfirmed(answer)
        return
    assert WORD not in str(answer)
    [injected] = answer["injected"]
    assert {"kind": "memory", "id": "bad", "reason": reason} in injected["block"]["withheld"]
    assert injected["block"]["as_it_was"] is not True
    assert reason == "merged" or "I drink tea" in injected["block"]["text"], "what could have stood there does"


@each_row(
    "recipe",
    [
        pytest.param(
            {"retrieved": brought(*(f"nobody-{n}" for n in range(100)))}, id="ids that are nobody's, as many as may be"
        ),
        pytest.param({"ids": tuple(f"nobody-{n}" for n in range(500))}, id="hits of nobody, as many as may be"),
        pytest.param({"language": "tlh"}, id="a language without titles"),
        pytest.param(
            {"stable": StableMade(budget=100_000, language="tlh")}, id="the same of the stable part, and a huge budget"
        ),
        pytest.param(
            {"stable": StableMade(budget=0, language="en", profile=("tea",) * 100)}, id="no room, one a hundred times"
        ),
        pytest.param({"retrieved": brought(*("tea",) * 100)}, id="one a hundred times"),
        pytest.param({"budget": 1}, id="no room for its frame"),
        pytest.param(
            {"budget": 1, "stable": StableMade(budget=100_000, language="en", profile=("tea",))}, id="no room at all"
        ),
        pytest.param(
            {"budget": 100_000, "messages": 1_000, "threshold": 0.0, "searches": 100}, id="all as large as may be"
        ),
        pytest.param({"upto": "0:999999999"}, id="a position that is not there yet"),
        pytest.param({"upto": "15:1"}, id="of another partition"),
        pytest.param({"upto": "0:1"}, id="of something else, perhaps before all"),
        pytest.param({"at": moment(-45_000)}, id="long before all"),
        pytest.param({"digest": "0" * 32, "asked": "0" * 32}, id="digests of nothing"),
    ],
)
def test_no_lie_about_how_a_block_was_made_fails(store: Store, recipe: dict[str, Any]) -> None:
    answer = forged(store, **recipe)
    [injected] = answer["injected"]
    assert injected["block"] is None or injected["block"]["as_it_was"] in (False, None)
    assert injected["block"] is None or injected["block"]["text"].count("[tea]") <= 1
    assert len(str(answer)) < 400_000


def test_no_block_is_of_a_time_that_is_still_to_come(store: Store) -> None:
    with pytest.raises(InvalidEvent, match=r"data\.block\.at"):
        forged(store, at=moment(2_000_000))


def test_a_block_is_made_of_what_there_was_when_it_was_recorded_and_of_nothing_later(store: Store) -> None:
    owner, day = store.owner(), store.yesterday
    told = store.tell(owner, created("I drink tea", "tea", day), said("q1", "What do I drink?", day=day + 0.2))
    partition = told.partition(":")[0]
    made = BlockMade(
        at=moment(day + 0.3), upto=f"{partition}:{store.head(owner) + 2}", budget=1_500, tokens=9, language="en",
        retrieved=brought("later"),
    )  # fmt: skip
    hit = Hit(memory_id="tea", count=1, best_rank=1, last_at=moment(day + 0.3))
    store.tell(
        owner, Told(MemoriesAccessed(hits=(hit,), via="injection", turn_id="q1", block=made), day + 0.3, "system")
    )
    store.tell(owner, created(f"I call my hedgehog {WORD}", "later", day + 0.1))
    assert WORD not in str(store.app.answers.answer(owner, "q1"))
