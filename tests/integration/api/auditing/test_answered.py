"""From an answer to what stood in its prompt, over a real store: which turn is meant, and what may be told of it today."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from engramlog_server.api.services.accesses import AccessRecorder
from engramlog_server.api.services.answers import MOST_BLOCKS, MOST_OTHERS, MOST_REPLIES, whole_turns
from engramlog_server.api.services.context import Contexts
from engramlog_server.events.errors import InputError, NotFound, StoreUnavailable
from engramlog_server.projections.fold.changelog import REASONS
from tests.acceptance.helpers.store import Store, embedded_store
from tests.given.events import Told, created, deleted, negated, parameters, purged, revised, set_aside
from tests.given.said import found, injected, said

ASKS = "What do I drink in the morning?"
COFFEE = "I drink coffee every morning"


def known(store: Store, *events: Told, owner: str | None = None) -> str:
    """An owner of whom this was told yesterday, in order."""
    owner = owner or store.owner()
    store.tell(owner, *(Told(one.data, store.yesterday + one.day / 100, one.actor, one.extra) for one in events))
    return owner


def handed(store: Store, owner: str, text: str = ASKS, **wanted: Any) -> dict[str, Any]:
    """The block of a turn, with what was injected folded."""
    answer = store.app.contexts.context(owner, text, **{"trace": True} | wanted)
    store.flushed()
    return answer


def answer(store: Store, owner: str, turn: str, **times: Any) -> dict[str, Any]:
    return store.app.answers.answer(owner, turn, **times)


def page(store: Store, owner: str, **asked: Any) -> dict[str, Any]:
    return store.app.answers.answers(owner, **asked)


def block_of(told: dict[str, Any]) -> dict[str, Any]:
    """The only block of a turn."""
    (one,) = told["injected"]
    return one["block"]


def asked_and_answered(store: Store) -> tuple[str, dict[str, Any]]:
    """An owner of whom one turn was answered with a memory, and its block."""
    owner = known(store, created(COFFEE, "coffee"), said("t1", ASKS))
    block = handed(store, owner)
    known(store, said("t2", "Coffee.", "assistant", reply_to="t1"), owner=owner)
    return owner, block


# --- which turn is meant


def test_a_turn_a_reply_and_a_position_lead_to_the_same_answer(store: Store) -> None:
    owner, block = asked_and_answered(store)
    whole = answer(store, owner, "t1")
    assert block_of(whole)["text"] == block["block"]
    assert answer(store, owner, "t2") == whole
    assert answer(store, owner, block["recorded"]["position"]) == whole


def test_a_page_tells_turn_and_reply_and_who_asked_newest_first(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    known(store, said("t3", "Do I drink coffee?", session="s2"), owner=owner)
    handed(store, owner, "Do I drink coffee?")
    told = page(store, owner)
    assert [(one["id"], one["memories"], one["principal"]) for one in told["answers"]] == [
        ("t3", 1, "local"),
        ("t1", 1, "local"),
    ]
    assert [reply["text"] for reply in told["answers"][1]["replies"]] == ["Coffee."]
    assert (told["total"], told["answers"][1]["linked_by"]) == (2, "reply_to")
    assert [one["id"] for one in page(store, owner, limit=1, offset=1)["answers"]] == ["t1"]
    assert [one["id"] for one in page(store, owner, session="s1")["answers"]] == ["t1"]


def test_since_and_until_go_by_when_it_was_injected(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    at = page(store, owner)["answers"][0]["injected_at"]
    assert page(store, owner, since=at, until=at)["total"] == 1
    assert page(store, owner, until="2020-01-01T00:00:00Z")["total"] == 0
    with pytest.raises(InputError, match="since"):
        page(store, owner, since="yesterday")
    with pytest.raises(InputError, match="until"):
        page(store, owner, since="2026-01-02", until="2026-01-01")


def test_since_and_until_may_be_days_by_the_owners_clocks_and_both_count(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    known(store, parameters(3, time_zone="Pacific/Kiritimati"), owner=owner)  # fourteen hours ahead of UTC
    at = datetime.fromisoformat(page(store, owner)["answers"][0]["injected_at"])
    day = at.astimezone(ZoneInfo("Pacific/Kiritimati")).date()
    before, behind = (str(day + timedelta(days=by)) for by in (-1, 1))
    assert page(store, owner, since=str(day), until=str(day))["total"] == 1
    assert page(store, owner, until=before)["total"] == page(store, owner, since=behind)["total"] == 0


def test_an_unknown_turn_says_what_to_do(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    with pytest.raises(NotFound, match="engramlog answers"):
        answer(store, owner, "nobody")


def test_a_turn_for_which_nothing_was_recorded_says_so(store: Store) -> None:
    owner = known(store, said("t1", "Hello"))
    told = answer(store, owner, "t1")
    assert (told["injected"], told["turn"]["text"]) == ([], "Hello")
    assert "nothing is recorded" in told["note"]


def test_an_injection_whose_write_was_lost_is_told_as_nothing_recorded(store: Store) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(store.app.log, name)

        def append(self, *_args: Any, **_named: Any) -> Any:
            raise StoreUnavailable("the store is away")

    owner = known(store, created(COFFEE, "coffee"), said("t1", ASKS))
    contexts = Contexts(store.app.log, store.app.views, store.reader, AccessRecorder(Broken()))  # type: ignore[arg-type]
    assert contexts.context(owner, ASKS, trace=True)["recorded"] == {"status": "lost"}
    assert "lost" in answer(store, owner, "t1")["note"]


def test_words_without_a_turn_find_their_turn_where_it_is_recorded_afterwards(store: Store) -> None:
    owner = known(store, created(COFFEE, "coffee"), found("Coffee is hot. Tea is not.", session="s1"))
    block = handed(store, owner, session="s1")
    assert page(store, owner)["answers"][0]["turn"] is None
    known(store, said("later", f"  {ASKS} "), said("reply", "Coffee.", "assistant"), owner=owner)
    (row,) = page(store, owner)["answers"]
    assert (row["id"], [one["turn_id"] for one in row["replies"]]) == ("later", ["reply"])
    for name in ("later", "reply", block["recorded"]["position"]):
        assert block_of(answer(store, owner, name))["as_it_was"] is True


def test_other_words_that_follow_are_not_taken_for_the_turn(store: Store) -> None:
    owner = known(store, created(COFFEE, "coffee"))
    block = handed(store, owner, session="s1")
    known(store, said("other", "Something else"), owner=owner)
    assert page(store, owner)["answers"][0]["id"] == block["recorded"]["position"]
    assert answer(store, owner, "other")["injected"] == []


def test_of_two_turns_under_one_id_the_one_that_was_asked_makes_the_block(store: Store) -> None:
    owner = known(
        store, created(COFFEE, "coffee"), found("Coffee is hot. Trains are late. Tea is not hot."), said("t1", ASKS)
    )
    block = handed(store, owner)
    known(store, said("t1", "Are trains late?"), owner=owner)
    told = answer(store, owner, "t1")
    assert (told["recorded_twice"], told["turn"]["text"]) == (True, "Are trains late?")
    assert (block_of(told)["text"], block_of(told)["as_it_was"]) == (block["block"], True)


# --- several injections for a turn


def test_asked_again_it_is_one_injection_and_with_more_memories_two(store: Store) -> None:
    owner = known(store, created(COFFEE, "coffee"), said("t1", ASKS))
    first = handed(store, owner)
    assert handed(store, owner)["recorded"] == {"status": "already"}
    known(store, created("In the morning I drink water too", "water"), owner=owner)
    second = handed(store, owner)
    told = answer(store, owner, "t1")
    assert [one["block"]["text"] for one in told["injected"]] == [first["block"], second["block"]]
    assert [one["memories"] for one in told["injected"]] == [["coffee"], ["water", "coffee"]]
    assert all(one["block"]["as_it_was"] for one in told["injected"])
    assert {one["id"] for one in told["injected_memories"]} == {"coffee", "water"}
    assert (page(store, owner)["total"], told["memories"]) == (1, 2)


def test_of_many_injections_the_newest_are_made_again(store: Store) -> None:
    owner = known(store, created(COFFEE, "coffee"), said("t1", ASKS))
    store.tell(owner, *(injected(f"m{number}", turn_id="t1", day=store.yesterday) for number in range(MOST_BLOCKS + 3)))
    told = answer(store, owner, "t1")
    assert (len(told["injected"]), told["injections_left_out"]) == (MOST_BLOCKS, 3)


# --- what is not told today


def test_what_was_deleted_since_is_withheld_and_the_digest_agrees_once_it_is_put_back(store: Store) -> None:
    owner, block = asked_and_answered(store)
    known(store, deleted("coffee", day=1), owner=owner)
    told = answer(store, owner, "t1")
    assert COFFEE not in str(told)
    assert (block_of(told)["as_it_was"], block_of(told)["withheld"]) == (
        False,
        [{"kind": "memory", "id": "coffee", "reason": "deleted"}],
    )
    assert "the digest is equal if they are included" in block_of(told)["why"]
    (memory,) = told["injected_memories"]
    assert (memory["withheld"], memory["status"], memory["since"]) == ("deleted", "deleted", ["deleted"])
    assert COFFEE in block["block"]


def test_what_was_purged_since_is_told_by_its_id_alone(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    store.tell(owner, deleted("coffee", store.yesterday - 40), purged("coffee", store.yesterday))
    told = answer(store, owner, "t1")
    assert COFFEE not in str(told)
    assert block_of(told)["withheld"] == [{"kind": "memory", "id": "coffee", "reason": "purged"}]


def test_what_is_held_to_be_secret_since_is_withheld(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    store.writer.set_sensitivity(owner, "coffee", 3, reason="asked")
    told = answer(store, owner, "t1")
    assert COFFEE not in str(told)
    assert block_of(told)["withheld"] == [{"kind": "memory", "id": "coffee", "reason": "secret"}]


def test_what_was_negated_and_revised_since_is_told_as_it_was_with_how_it_stands(store: Store) -> None:
    owner, block = asked_and_answered(store)
    known(store, revised("I drink tea every morning", "coffee", day=1), negated("coffee", day=2), owner=owner)
    told = answer(store, owner, "t1")
    assert (block_of(told)["text"], block_of(told)["as_it_was"]) == (block["block"], True)
    (memory,) = told["injected_memories"]
    assert (memory["memory"], memory["since"][:2]) == (COFFEE, ["negated", "revised"])


def test_a_turn_that_was_retracted_is_withheld_as_uses_withholds_it(store: Store) -> None:
    owner = known(
        store,
        created(COFFEE, "coffee"),
        said("t0", "The spare key lies under the blue pot", day=99.9),
        created("The spare key lies under the blue pot", "t0", kind="episode", source_turns=("t0",)),
        said("t1", ASKS, day=99.9),
    )
    block = handed(store, owner)
    assert "blue pot" in block["block"]
    store.delete(owner, "t0")
    told = answer(store, owner, "t1")
    assert "blue pot" not in str(told)
    assert {"kind": "turn", "id": "t0", "reason": "deleted"} in block_of(told)["withheld"]


def test_a_secret_that_was_asked_leaves_no_digest_of_the_question(store: Store) -> None:
    owner = known(store, created("My card is the blue one of my bank", "card"))
    asks = "My card's PIN is 4821, which bank is my card of?"
    block = handed(store, owner, asks, threshold=0.0)
    assert block["recorded"]["status"] == "appended"
    position = int(block["recorded"]["position"].partition(":")[2])
    (stored,) = store.app.views.stored(owner, [position])
    assert b'"digest"' in stored.body
    assert b'"asked"' not in stored.body


def test_a_source_that_is_set_aside_since_says_so_and_its_turn_is_withheld(store: Store) -> None:
    owner = known(
        store, Told(created(COFFEE, "coffee").data, extra={"session_id": "s1"}), said("t1", ASKS, session="s1")
    )
    handed(store, owner)
    known(store, set_aside("s1", day=1), owner=owner)
    told = answer(store, owner, "t1")
    assert told["turn"]["text"] == "[withheld: set aside]"
    assert told["injected_memories"][0]["status"] == "set_aside"


# --- where it cannot be proved


def test_an_injection_of_before_this_was_recorded_is_made_again_by_the_defaults_and_called_unproved(
    store: Store,
) -> None:
    owner = known(store, created(COFFEE, "coffee"), said("t1", ASKS))
    store.tell(owner, injected("coffee", turn_id="t1", day=store.yesterday + 0.5))
    told = answer(store, owner, "t1")
    assert (block_of(told)["as_it_was"], block_of(told)["why"]) == (None, REASONS["block_untold"])
    assert COFFEE in block_of(told)["text"]
    assert told["injected_memories"][0]["memory"] == COFFEE


def test_an_injection_of_what_nobody_knows_is_told(store: Store) -> None:
    owner = known(store, said("t1", ASKS))
    store.tell(owner, injected("nobody", turn_id="t1", day=store.yesterday + 0.5))
    (memory,) = answer(store, owner, "t1")["injected_memories"]
    assert (memory["memory"], memory["withheld"], memory["status"]) == (None, "unknown", "unknown")


def test_a_quarantined_owner_is_answered_as_of_the_event_before(store: Store) -> None:
    owner, block = asked_and_answered(store)
    store.poison(owner)
    told = answer(store, owner, "t1")
    assert "quarantined" in told
    assert block_of(told)["text"] == block["block"]


# --- both time lines, and no trace


def test_a_question_about_the_past_knows_what_was_recorded_by_then(store: Store) -> None:
    owner, block = asked_and_answered(store)
    position = block["recorded"]["position"]
    assert answer(store, owner, "t1", known=position)["replies"] == []
    with pytest.raises(NotFound):
        answer(store, owner, "t2", known=position)
    assert page(store, owner, as_of="2020-01-01")["total"] == 0


def test_asking_appends_nothing(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    before = store.head(owner)
    answer(store, owner, "t1")
    page(store, owner)
    store.flushed()
    assert store.head(owner) == before


def test_who_spoke_is_told_no_more_than_what_was_said(store: Store) -> None:
    """A producer may send anything as the name of a speaker."""
    owner = known(
        store,
        created(COFFEE, "coffee"),
        said("t1", ASKS, speaker="password is hunter2-Xq9!"),
        said("t3", "I paint", session="poisoned", speaker="Mallory"),
        said("t4", "Go on", "assistant", reply_to="t3", session="poisoned", speaker="Trudy"),
    )
    handed(store, owner, turn_id="t1", session="s1")
    handed(store, owner, "I paint", turn_id="t3", session="poisoned")
    known(store, set_aside("poisoned", day=1), owner=owner)
    told = [answer(store, owner, "t1"), answer(store, owner, "t3")["turn"], page(store, owner)]
    told += [store.app.answers.uses(owner, "coffee")]
    assert not [word for word in ("hunter2", "Mallory", "Trudy") if word in str(told)]
    assert [one["turn"]["role"] for one in page(store, owner)["answers"]] == ["user", "user"]


def test_however_many_turns_and_replies_have_an_id_words_of_a_few_are_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = MOST_OTHERS + MOST_REPLIES + 10
    owner = known(store, created(COFFEE, "coffee"), *(said("t1", f"{ASKS} {n}") for n in range(many)))
    known(store, *(said(f"r{n}", "Well", "assistant", reply_to="t1") for n in range(many)), owner=owner)
    known(store, injected("coffee", turn_id="t1"), owner=owner)
    read = list[int]()

    def counted(views: Any, of: str, turns: Any) -> Any:
        read.append(len(list(turns)))
        return whole_turns(views, of, turns)

    monkeypatch.setattr("engramlog_server.api.services.answers.whole_turns", counted)
    told = answer(store, owner, "t1")
    assert told["turn"]["text"] == f"{ASKS} {many - 1}"
    assert (told["recorded_twice"], len(told["replies"])) == (True, MOST_REPLIES)
    assert answer(store, owner, f"r{many - 1}")["turn"] == told["turn"]
    assert page(store, owner)["answers"][0]["turn"] == told["turn"]
    assert max(read) <= MOST_OTHERS + MOST_REPLIES + 3


def test_the_first_event_of_a_partition_is_answered_as_any_other_injection(tmp_path: Path) -> None:
    with embedded_store(tmp_path / "data", partitions=1) as store:
        codes = []
        for owner in ("ada", "bo"):
            store.tell(owner, injected("m", turn_id="t1"))
            (one,) = store.app.answers.answer(owner, "t1")["injected"]
            codes.append(one["block"]["why_code"])
    assert codes == ["block_untold", "block_untold"]
