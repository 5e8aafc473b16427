"""A verb that is only asked what it would do: the same changes as it then makes, the same refusals, and nothing is left behind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from engramlog_server.events.errors import EngramlogError, NotYetFolded
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.views.view import would_change
from tests.acceptance.helpers.store import Store, day
from tests.given.events import (
    Told,
    accessed,
    borne_out,
    created,
    deleted,
    in_session,
    linked,
    mentioned,
    merged,
    negated,
    parameters,
    profile,
    purged,
    reinforced,
    set_aside,
)
from tests.rows import each_row

AT = day(40.25)
"""When every verb is given: the clock stands."""
STORY: tuple[Told, ...] = (
    created("I drink coffee every morning", "coffee", category="stable_preference"),
    in_session(created("我每天早上喝茶", "tea", day=1), "s1"),
    created("I live in Paris", "paris", day=2),
    created("I work in Lyon", "lyon", day=3),
    created("I like hiking", "hiking", day=3.5, source="assistant"),
    created("The meeting is on Friday", "gone", day=4),
    created("My old number was 12", "tomb", day=4),
    created("Espresso at eight", "espresso", day=4.5),
    created("Espresso at nine", "espresso-2", day=4.6),
    mentioned("coffee", day=5),
    accessed("coffee", day=6),
    reinforced("tea", day=7),
    linked("coffee", "tea", day=7.5),
    negated("lyon", day=8),
    merged("espresso", "espresso-2", into="all", day=9, summary="Espresso in the morning"),
    deleted("gone", day=10),
    deleted("tomb", day=5),
    purged("tomb", day=38),
)
"""What is known before: live, negated, merged, deleted and purged memories."""


class Verb(NamedTuple):
    """One verb as it is given."""

    call: str
    words: tuple[Any, ...]
    told: Mapping[str, Any] = MappingProxyType({})
    before: tuple[Told, ...] = ()


VERBS = {
    "negated": Verb("writer.negate", ("coffee",), {"reason": "said so"}),
    "negated with a correction": Verb("writer.negate", ("coffee",), {"correction": "I drink tea now"}),
    "negated with a secret": Verb("writer.negate", ("coffee",), {"correction": "my password is hunter2-Sesame"}),
    "negated by another": Verb("writer.negate", ("coffee",), {"replaced_by": "tea"}),
    "the latest wins": Verb("writer.negate", ("paris",), {"correction": "我住在里昂", "resolution": "latest_wins"}),
    "versions kept": Verb("writer.negate", ("paris",), {"correction": "I live in Nice", "resolution": "version_keep"}),
    "weights balanced": Verb("writer.negate", ("paris",), {"replaced_by": "tea", "resolution": "weight_balance"}),
    "never so": Verb("writer.negate", ("coffee",), {"never": True}),
    "never so, and corrected": Verb("writer.negate", ("tea",), {"never": True, "correction": "我喝咖啡"}),
    "negated again": Verb("writer.negate", ("lyon",)),
    "negated by an assistant": Verb("writer.negate", ("coffee",), {"actor": "assistant"}),
    "corrected by an assistant": Verb(
        "writer.negate", ("coffee",), {"actor": "assistant", "correction": "I drink tea"}
    ),
    "negated though deleted": Verb("writer.negate", ("gone",)),
    "confirmed": Verb("writer.confirm", ("coffee",)),
    "confirmed after a negation": Verb("writer.confirm", ("lyon",)),
    "confirmed by an assistant": Verb("writer.confirm", ("lyon",), {"actor": "assistant"}),
    "confirmed though set aside": Verb("writer.confirm", ("tea",), before=(set_aside("s1", day=20),)),
    "mentioned with likeness": Verb("writer.mention", ("paris",), {"similarity": 0.9, "session": "s2"}),
    "edited": Verb("rememberer.edit", ("coffee", "I drink coffee at eight"), {"tags": ["morning"]}),
    "edited by an assistant": Verb("rememberer.edit", ("coffee", "I drink tea"), {"actor": "assistant"}),
    "edited to a secret": Verb("rememberer.edit", ("paris", "The door code is 482913, my password")),
    "edited to the same": Verb("rememberer.edit", ("paris", "I live in Paris")),
    "edited on other grounds": Verb(
        "rememberer.edit",
        ("paris", "I live in Paris"),
        {"grounds": [{"uri": "https://example.com/a", "digest": "sha256:9f86d081"}], "because": "asked"},
    ),
    "judged": Verb("writer.set_sensitivity", ("coffee", 3), {"reason": "a test"}),
    "judged, and down": Verb("writer.set_sensitivity", ("coffee", 0), {"reason": "no secret"}),
    "merged": Verb("writer.merge", (("coffee", "tea"),)),
    "merged into a summary": Verb(
        "writer.merge", (("coffee", "tea", "paris"),), {"summary": "咖啡与茶", "into": "both", "reason": "alike"}
    ),
    "merged into what is there": Verb("writer.merge", (("coffee", "tea"),), {"into": "paris"}),
    "merged with what is negated": Verb("writer.merge", (("lyon", "paris"),)),
    "merged by an assistant": Verb("writer.merge", (("coffee", "tea"),), {"actor": "assistant"}),
    "un-merged": Verb("writer.unmerge", ("all",)),
    "un-merged of nothing": Verb("writer.unmerge", ("coffee",)),
    "under the ebbinghaus law": Verb("writer.negate", ("coffee",), before=(profile("ebbinghaus", day=12),)),
    "under the tiered law": Verb(
        "writer.confirm", ("coffee",), before=(profile("tiered", day=12), *borne_out("coffee", 13))
    ),
    "under other parameters": Verb(
        "writer.confirm", ("lyon",), before=(parameters(day=12, user_factor=1.3, lambda_s=0.2, semantic_boost=2.0),)
    ),
}
REFUSED = {
    "no such memory": Verb("writer.negate", ("nobody",)),
    "deleted": Verb("writer.confirm", ("gone",)),
    "deleted, edited": Verb("rememberer.edit", ("gone", "The meeting is on Monday")),
    "purged": Verb("writer.set_sensitivity", ("tomb", 0), {"reason": "why"}),
    "merged away": Verb("writer.confirm", ("espresso",)),
    "two corrections": Verb("writer.negate", ("coffee",), {"correction": "no", "replaced_by": "tea"}),
    "by itself": Verb("writer.negate", ("coffee",), {"replaced_by": "coffee"}),
    "no such resolution": Verb("writer.negate", ("coffee",), {"resolution": "loudest_wins"}),
    "no such level": Verb("writer.set_sensitivity", ("coffee", 4), {"reason": "why"}),
    "no reason": Verb("writer.set_sensitivity", ("coffee", 1), {"reason": " "}),
    "one source": Verb("writer.merge", (("coffee",),)),
    "an unknown source": Verb("writer.merge", (("coffee", "nobody"),)),
    "into itself": Verb("writer.merge", (("coffee", "tea"),), {"into": "tea"}),
    "no words": Verb("rememberer.edit", ("coffee", "")),
    "words too many": Verb("rememberer.edit", ("coffee", "x" * 100_000)),
    "an agent judges": Verb("writer.set_sensitivity", ("coffee", 0), {"reason": "why", "actor": "assistant"}),
    "no such actor": Verb("writer.confirm", ("coffee",), {"actor": "burglar"}),
    "never, by an agent": Verb("writer.negate", ("coffee",), {"never": True, "actor": "assistant"}),
    "in the far future": Verb("writer.confirm", ("coffee",), {"occurred_at": "2190-01-01T00:00:00Z"}),
    "no such key": Verb("writer.confirm", ("coffee",), {"key": "k" * 201}),
}


def kept(store: Store) -> dict[bytes, Any]:
    """Everything that the store holds in Redis, by key."""
    with store.app.log._wires.wire() as wire:  # type: ignore[attr-defined]
        return {key: held(wire, key) for key in sorted(wire.call("KEYS", "*"))}


def held(wire: Wire, key: bytes) -> Any:
    """What a key holds; of a stream, to which one can only add, how much."""
    kind = wire.call("TYPE", key)
    if kind == b"hash":
        told = wire.call("HGETALL", key)
        return dict(zip(told[::2], told[1::2], strict=True))
    return wire.call(
        *{b"stream": ("XLEN", key), b"zset": ("ZRANGE", key, 0, -1, "WITHSCORES")}.get(kind, ("DUMP", key))
    )


def given(store: Store, verb: Verb, owner: str, **more: Any) -> Any:
    service, _, name = verb.call.partition(".")
    call: Callable[..., Any] = getattr(getattr(store.app, service), name)
    return call(owner, *verb.words, **{"occurred_at": AT, **verb.told, **more})


def as_compared(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what names what was not there yet: the events, their places, and the memories that they make."""
    text = repr({name: value for name, value in answer.items() if name not in ("position", "dry_run", "changes")})
    changes = [{name: value for name, value in one.items() if name != "event_id"} for one in answer["changes"]]
    return {"answer": _unnamed(text), "changes": [_unnamed(repr(one)) for one in changes]}


def _unnamed(text: str) -> str:
    return re.sub(r"m-[0-9a-f-]{36}", "m-new", text)


@each_row("name", VERBS)
def test_a_dry_run_tells_what_the_verb_then_does_to_the_last_figure_and_leaves_nothing_behind(
    store: Store, name: str
) -> None:
    verb, owner = VERBS[name], store.owner()
    store.tell(owner, *STORY, *verb.before)
    at = store.reader.list(owner)["position"]
    before, listed = kept(store), store.reader.list(owner, mode="debug", at=AT)
    would = given(store, verb, owner, dry_run=True)
    assert (would["dry_run"], would["position"], would["behind"]) == (True, at, 0)
    assert as_compared(given(store, verb, owner, dry_run=True, key="k1")) == as_compared(would)
    assert kept(store) == before
    assert store.reader.list(owner, mode="debug", at=AT) == listed
    assert store.app.inbox.page(owner)["total"] == 0
    does = given(store, verb, owner)
    assert "dry_run" not in does
    assert as_compared(would) == as_compared(does), name
    assert would["changes"] or name == "edited to the same"


@pytest.fixture(scope="module")
def ada(store: Store) -> str:
    """An owner to whom nothing is done."""
    owner = store.owner()
    store.tell(owner, *STORY)
    return owner


@each_row("name", REFUSED)
def test_what_the_verb_would_refuse_the_dry_run_refuses_in_the_same_words(store: Store, ada: str, name: str) -> None:
    verb, told = REFUSED[name], []
    for dry_run in (True, False):
        with pytest.raises(EngramlogError) as refused:
            given(store, verb, ada, dry_run=dry_run)
        told.append(re.sub(r"to 20\d\d-[^ ]+Z", "to now", f"{type(refused.value)} {refused.value.as_dict()}"))
    assert told[0] == told[1]


def test_what_would_wait_for_a_person_is_told_as_waiting_and_waits_nowhere(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    would = store.writer.negate(owner, "coffee", actor="assistant", occurred_at=AT, dry_run=True)
    (change,) = (one for one in would["changes"] if one["memory"] == "coffee")
    assert (change["decision"], change["fields"]) == ("wait", ["waiting"])
    assert change["old_weight"] == change["new_weight"]
    assert store.app.inbox.page(owner)["total"] == 0


def test_a_key_that_was_used_answers_as_it_did_and_one_that_stands_for_something_else_is_refused(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    did = store.writer.confirm(owner, "coffee", occurred_at=AT, key="k")
    again = store.writer.confirm(owner, "coffee", occurred_at=AT, key="k", dry_run=True)
    assert (again["changes"], again["dry_run"]) == (did["changes"], True)
    with pytest.raises(EngramlogError) as taken:
        store.writer.confirm(owner, "tea", occurred_at=AT, key="k", dry_run=True)
    assert type(taken.value).__name__ == "KeyTaken"


def test_without_a_time_it_happens_now_by_the_stores_clock(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    now = store.app.log.now() + 1_000_000
    monkeypatch.setattr(store.app.log._clock, "now", lambda: now)  # type: ignore[attr-defined]
    would, does = (store.writer.negate(owner, "coffee", dry_run=dry) for dry in (True, False))
    assert as_compared(would) == as_compared(does)


def test_events_that_nobody_folded_yet_are_folded_first(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    receipts = store.app.log.append([store.prepared(owner, negated("coffee", day=30))])
    would = store.writer.confirm(owner, "coffee", occurred_at=AT, dry_run=True)
    assert would["position"] == receipts[0].position
    assert [one["decision"] for one in would["changes"]] == ["reaffirm"]


def test_where_nobody_folds_it_is_refused_as_the_verb_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    store.app.log.append([store.prepared(owner, negated("coffee", day=30))])

    def nobody(until: Any) -> None:
        raise NotYetFolded("nobody folds")

    monkeypatch.setattr(store.writer, "_catch_up", nobody)
    with pytest.raises(NotYetFolded):
        store.writer.confirm(owner, "coffee", occurred_at=AT, dry_run=True)


def test_of_an_owner_that_stands_still_it_tells_that_its_events_would_wait(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    store.poison(owner)
    would = store.writer.negate(owner, "coffee", occurred_at=AT, dry_run=True)
    does = store.writer.negate(owner, "coffee", occurred_at=AT)
    assert (
        (would["changes"], would["quarantined"]) == (does["changes"], does["quarantined"]) == ([], does["quarantined"])
    )


def test_the_places_told_are_those_that_are_free(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    would = store.writer.negate(owner, "coffee", correction="I drink tea now", occurred_at=AT, dry_run=True)
    head = store.head(owner)
    seqs = {parse_position(one["position"])[1] for one in would["changes"]}
    assert seqs == {head + 1, head + 2}
    assert head == parse_position(would["position"])[1]


def test_foreseeing_leaves_the_view_as_it_was(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, *STORY)
    entry = store.app.log.read(parse_position(store.reader.list(owner)["position"])[0], 0)[0]
    with store.reader.snapshot(owner) as snapshot:
        state, before = snapshot.view.state, list(snapshot.view.columns.memories)
        would_change(snapshot.view, [entry])
        assert (snapshot.view.state, list(snapshot.view.columns.memories)) == (state, before)
