"""What grants by mode and sensitivity do at single calls: what is hidden is as if unknown; looks are recorded before they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from engramlog_server.api.access import By
from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.events.errors import AccessDenied, NotFound, StoreUnavailable
from engramlog_server.projections.access.caller import AT_THE_FOLDER, Caller, check_grant
from engramlog_server.projections.access.keys import as_grant
from tests.given.http import HttpStore, created, event, http_store

Json = dict[str, Any]
NUMBERS = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("told")) as found:
        yield found


@pytest.fixture
def owner() -> str:
    return f"told{next(NUMBERS)}"


def agent(owner: str, *verbs: str, most: int = 2, modes: tuple[str, ...] = ("normal",), owners: str = "") -> Caller:
    one = {"verbs": list(verbs), "owners": [owners or owner], "modes": list(modes), "sensitivity": most}
    return Caller("agent", ((check_grant(as_grant(one)),),), "abcdefgh")


def hidden_ones(owner: str) -> list[Json]:
    """A memory that stands, and one hidden by each of several reasons."""
    day = "2026-03-01T08:00:00Z"
    return [
        *(created(name, f"I keep {name} things", owner=owner) for name in ("stands", "deleted", "negated", "part", "other")),
        event("MemoryDeleted", owner=owner, at=day, memory_id="deleted"),
        event("MemoryNegated", owner=owner, at=day, memory_id="negated", resolution="version_keep"),
        event("MemoryMerged", owner=owner, at=day, sources=["part", "other"], into="joined", summary="I keep two things"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["deleted", "negated", "part"])
def test_a_hidden_memory_is_refused_in_the_words_for_one_that_never_was(
    store: HttpStore, owner: str, name: str
) -> None:
    store.told(owner, *hidden_ones(owner))
    app = store.application.for_(agent(owner, "read"))
    calls: dict[str, Callable[[str], Any]] = {
        "get": lambda one: app.reader.get(owner, one),
        "why": lambda one: app.reader.why(owner, one),
        "history": lambda one: app.reader.history(owner, one),
        "provenance": lambda one: app.reader.provenance(owner, one),
        "associations": lambda one: app.knower.associations(owner, one, mode="normal"),
        "above": lambda one: app.reader.why(owner, "stands", above=one, query="things"),
    }
    for call in calls.values():
        with pytest.raises(NotFound) as unknown:
            call("never-was")
        with pytest.raises(NotFound) as hidden:
            call(name)
        assert str(hidden.value).replace(name, "never-was") == str(unknown.value)
    assert app.reader.get(owner, "stands")["content"] == "I keep stands things"
    assert store.application.reader.get(owner, name)["id"] == name


def test_whoever_reads_in_mode_debug_is_told_what_others_are_not(store: HttpStore, owner: str) -> None:
    store.told(owner, *hidden_ones(owner))
    app = store.application.for_(agent(owner, "read", modes=("normal", "review", "debug")))

    assert app.reader.get(owner, "deleted")["content"] == "I keep deleted things"
    assert (
        app.reader.search(owner, "deleted things")["withheld"]
        == store.application.reader.search(owner, "deleted things")["withheld"]
    )


def test_why_of_one_memory_needs_no_mode_and_of_two_the_one_that_ranks_them(store: HttpStore, owner: str) -> None:
    store.told(owner, *hidden_ones(owner))
    reader = store.application.for_(agent(owner, "read", modes=("review",))).reader
    assert reader.why(owner, "stands")["above"] is None
    asked = {"above": "part", "query": "things"}
    assert reader.why(owner, "stands", mode="review", **asked)["above"]["mode"] == "review"
    with pytest.raises(AccessDenied, match="in mode normal"):
        reader.why(owner, "stands", **asked)


@pytest.mark.parametrize("most", [0, 1])
def test_a_key_below_the_level_of_the_log_compares_the_ranks_of_what_it_reads_and_is_shown_no_change(
    store: HttpStore, owner: str, most: int
) -> None:
    store.told(
        owner,
        created("tea", "I drink green tea", owner=owner),
        created("coffee", "I drink coffee", owner=owner),
        created("clinic", "I drink at the clinic", owner=owner, sensitivity=2),
    )
    reader = store.application.for_(agent(owner, "read", most=most)).reader
    asked = {"above": "coffee", "query": "What do I drink?"}

    told, whole = reader.why(owner, "tea", **asked), store.application.reader.why(owner, "tea", **asked)

    assert told["limited"]
    assert not whole["limited"]
    assert (told["changes"], told["next"], told["provenance"]) == ([], None, {"memory": "tea", "nodes": []})
    assert told["weight"] == whole["weight"]
    ranked = {found["id"]: found["score"] for found in reader.search(owner, "What do I drink?", trace=False)["results"]}
    assert {told["above"][name]["id"]: told["above"][name]["score"] for name in ("first", "second")} == ranked
    with pytest.raises(NotFound):
        reader.why(owner, "tea", above="clinic", query="What do I drink?")
    with pytest.raises(AccessDenied, match="up to sensitivity 2"):
        reader.why(owner, "tea")


def test_how_many_hidden_memories_match_is_not_told(store: HttpStore, owner: str) -> None:
    store.told(owner, *hidden_ones(owner))
    app = store.application.for_(agent(owner, "read"))

    assert store.application.reader.search(owner, "deleted")["withheld"]
    assert app.reader.search(owner, "deleted")["withheld"] == []
    assert app.reader.list(owner)["withheld"] == []
    assert app.knower.map(owner)["withheld"] == []


def test_the_change_log_is_told_without_what_is_hidden(store: HttpStore, owner: str) -> None:
    store.told(owner, *hidden_ones(owner))
    app = store.application.for_(agent(owner, "read"))

    changes = [one for page in _pages(app, owner) for one in page]

    assert {one["memory"] for one in changes} <= {"stands", "joined", None}
    assert len(changes) < len([one for page in _pages(store.application, owner) for one in page])


def _pages(app: Any, owner: str) -> Iterator[list[Json]]:
    cursor = None
    while True:
        page = app.reader.history(owner, limit=1, cursor=cursor)
        yield page["changes"]
        cursor = page["next"]
        if cursor is None:
            return


def test_whoever_holds_a_view_open_holds_the_narrowed_one(store: HttpStore, owner: str) -> None:
    store.told(owner, *hidden_ones(owner))
    app = store.application.for_(agent(owner, "read"))

    with app.reader.snapshot(owner) as snapshot:
        assert snapshot.view.get("deleted") is None
        assert snapshot.view.get("stands") is not None
    with store.application.for_(AT_THE_FOLDER).reader.snapshot(owner) as snapshot:
        assert snapshot.view is snapshot.present


def test_verbs_do_their_work_on_what_the_mode_hides(store: HttpStore, owner: str) -> None:
    store.told(owner, *hidden_ones(owner))
    app = store.application.for_(agent(owner, "read", "correct", "delete", "produce"))

    assert app.restorer.restore(owner, "deleted")["changes"]
    assert app.reader.get(owner, "deleted")["content"] == "I keep deleted things"


@pytest.mark.parametrize("most", [2, 3])
def test_a_grant_of_reveal_reveals_only_where_it_reaches_secrets(store: HttpStore, owner: str, most: int) -> None:
    store.told(owner, created("secret", "my PIN is 4711", owner=owner, sensitivity=3))
    app = store.application.for_(agent(owner, "read", "reveal", most=most))
    ask: list[Callable[[], Any]] = [
        lambda: app.revealer.get(owner, "secret", By("http"))["content"],
        lambda: app.reader.get(owner, "secret", reveal=True)["content"],
        lambda: b"".join(app.revealer.export(owner, ExportOptions(reveal=True), By("http"))[0].pieces()).decode(),
    ]
    for call in ask:
        if most == 2:
            with pytest.raises(AccessDenied, match="sensitivity 3"):
                call()
        else:
            assert "4711" in call()
    assert "4711" not in app.reader.get(owner, "secret")["content"]


def test_no_more_than_the_ceiling_stands_in_a_block(store: HttpStore, owner: str) -> None:
    store.told(
        owner,
        created("plain", "I like the blue garden", owner=owner, sensitivity=0),
        created("home", "My garden is at the blue house", owner=owner, sensitivity=2),
    )
    low, high = (store.application.for_(agent(owner, "read", most=most)) for most in (1, 2))

    assert "house" in high.contexts.context(owner, "what of the blue garden?", sensitive=True, whole=True)["block"]
    block = low.contexts.context(owner, "what of the blue garden?", whole=True)["block"]
    assert "I like the blue garden" in block
    assert "house" not in block
    with pytest.raises(AccessDenied, match="sensitive"):
        low.contexts.context(owner, "what of the blue garden?", sensitive=True)


def test_what_was_said_later_is_told_up_to_the_ceiling_too(store: HttpStore, owner: str) -> None:
    store.told(owner, created("one", "I like the garden", owner=owner, sensitivity=0))
    app = store.application.for_(agent(owner, "read", most=1))
    assert [one["id"] for one in app.reader.list(owner)["memories"]] == ["one"]

    store.told(
        owner,
        created("two", "I like the river", owner=owner, sensitivity=1),
        created("three", "I like the hills", owner=owner, sensitivity=2),
        event("SensitivitySet", owner=owner, at="2026-03-01T08:00:00Z", memory_id="one", level=2, reason="so it is"),
    )

    assert [one["id"] for one in app.reader.list(owner)["memories"]] == ["two"]
    before = app.reader.list(owner, as_of="2026-02-01T00:00:00Z")["memories"]
    assert [one["id"] for one in before] == ["two"]


def test_what_is_above_the_ceiling_is_met_without_its_text(store: HttpStore, owner: str) -> None:
    store.told(owner, created("place", "I live in the old town", owner=owner, category="fact", sensitivity=2))
    app = store.application.for_(agent(owner, "read", "produce", most=1))

    told = app.rememberer.add(owner, "I don't live in the old town")

    met = [one for name in ("ended", "waiting", "conflicting") for one in told[name]]
    assert [one["id"] for one in met] == ["place"]
    assert "town" not in met[0]["memory"]


def test_whoever_may_bring_and_not_read_is_told_no_text_of_what_it_meets(store: HttpStore, owner: str) -> None:
    store.told(owner, created("job", "I work as a teacher in Berlin", owner=owner, category="fact"))
    told = store.application.for_(agent(owner, "read", "produce")).rememberer.add(
        owner, "I don't work as a teacher in Berlin"
    )
    beside = [one for name in ("ended", "waiting", "conflicting") for one in told[name]]
    store.told(owner, created("place", "I live in the old town", owner=owner, category="fact"))

    blind = store.application.for_(agent(owner, "produce")).rememberer.add(owner, "I don't live in the old town")
    unread = [one for name in ("ended", "waiting", "conflicting") for one in blind[name]]

    assert beside
    assert all("teacher" in one["memory"] for one in beside)
    assert unread == []


def test_pieces_of_an_export_hold_what_was_chosen_for_the_caller_whoever_takes_them(
    store: HttpStore, owner: str
) -> None:
    store.told(owner, *hidden_ones(owner))
    app = store.application.for_(agent(owner, "read"))

    found = app.records.export(owner, ExportOptions())
    text = b"".join(found.pieces()).decode()  # as a server's thread takes them: in nobody's name

    assert "I keep stands things" in text
    assert "negated" not in text.replace('"negated":', "")
    with pytest.raises(AccessDenied, match="debug"):
        store.application.for_(agent(owner, "read", "audit")).records.export(owner, ExportOptions(everything=True))


def _looks(store: HttpStore, owner: str) -> list[tuple[str | None, str | None]]:
    return [(one["what"], one["call"]) for one in store.application.reads.reads()["reads"] if one["whose"] == owner][
        ::-1
    ]


def test_another_ones_past_is_recorded_however_it_is_asked_for(store: HttpStore, owner: str) -> None:
    where = store.told(owner, created("one", "I like the garden", owner=owner))
    for who, recorded in (
        (agent(owner, "read", "replay", "audit", owners="*"), True),
        (agent(owner, "read", "replay"), False),
    ):
        before = len(_looks(store, owner))
        app = store.application.for_(who)
        app.reader.list(owner, as_of=where)
        app.reader.get(owner, "one", known=where)
        app.differ.diff(owner, since=where)
        app.comparer.curves(owner, "one")
        app.reader.list(owner)
        looks = _looks(store, owner)[before:]
        calls = ["reader.list", "reader.get", "differ.diff", "comparer.curves"]
        assert looks == ([("past", call) for call in calls] if recorded else [])


def test_a_look_that_cannot_be_recorded_shows_nothing(
    store: HttpStore, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = store.told(owner, created("one", "I like the garden", owner=owner))
    shown = []

    def fails(*_asked: Any) -> None:
        raise StoreUnavailable("the log takes nothing", retry_after=1)

    monkeypatch.setattr(store.application.reads, "_append", fails)
    app = store.application.for_(agent(owner, "read", "reveal", most=3, owners="*", modes=("normal", "debug")))
    for call in (
        lambda: app.reader.list(owner, as_of=where),
        lambda: app.reader.list(owner, mode="debug"),
        lambda: app.records.export(owner, ExportOptions()),
        lambda: app.revealer.get(owner, "one", By("http")),
    ):
        with pytest.raises(StoreUnavailable):
            shown.append(call())
    assert shown == []
