"""Why a memory is kept and what it rests on; a ground that changed withholds it until it holds again."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import Ground, GroundChanged
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.memory.record import Basis, Memory, Report, Rests
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery, detail, why
from engramlog_server.projections.views.view import WITHHELD
from tests.given.events import Told, at, created, folded, merged, revised, unmerged
from tests.given.views import viewed
from tests.rows import each_row

PAGE, FILE = "https://wiki.example.org/flats", "file:///合同.pdf"
OLD, NEW = "sha256:0123456789", "sha256:9876543210"
BASIS: dict[str, Any] = {
    "because": "they decided it in March",
    "grounds": (Ground(uri=PAGE, digest=OLD),),
    "metadata": {"rooms": 3, "price": 1250.5, "furnished": False, "城市": "柏林"},
}


def changed(digest: str = NEW, uri: str = PAGE, of: str = "m", day: float = 1) -> Told:
    return Told(GroundChanged(memory_id=of, uri=uri, digest=digest), day, "system")


def one(*events: Told, of: str = "m") -> Memory:
    return folded(*events).memories[of]


def decisions(*events: Told) -> list[tuple[str, str]]:
    from tests.given.events import told

    return [(entry["decision"], entry["reason"]) for entry in told(folded(*events).entries)]


# --- told -----------------------------------------------------------------------------------------------------------


def test_a_creation_keeps_why_on_what_and_the_names_given() -> None:
    assert one(created(**BASIS)).basis == Basis(
        "they decided it in March",
        (Rests(PAGE, OLD),),
        at(0),
        (),
        (("furnished", False), ("price", 1250.5), ("rooms", 3), ("城市", "柏林")),
    )


def test_a_revision_replaces_what_it_gives_and_keeps_the_rest() -> None:
    before = one(created(**BASIS)).basis
    assert one(created(**BASIS), revised(day=1)).basis == before
    after = one(created(**BASIS), revised(day=1, because="the lease says so", metadata={"pages": 12})).basis
    assert after is not None
    assert before is not None
    assert (after.because, after.metadata) == ("the lease says so", (("pages", 12),))
    assert (after.grounds, after.given_at) == (before.grounds, before.given_at)


# --- sensitive ------------------------------------------------------------------------------------------------------


@each_row(
    "told",
    [
        {"because": "the password is hunter2-Xq9!"},
        {"metadata": {"password": "hunter2-Xq9!"}},
        {"metadata": {"note": "my password is hunter2-Xq9!"}},
        {"grounds": (Ground(uri="https://ann:hunter2-Xq9@git.example.org/notes", digest=OLD),)},
    ],
)
def test_a_secret_in_any_of_it_makes_the_memory_one(told: dict[str, Any]) -> None:
    assert one(created("a note", **told)).sensitivity == 3
    assert one(created("a note"), revised("another note", day=1, **told)).sensitivity == 3


def test_of_a_secret_nothing_but_digests_is_told_unless_it_is_revealed() -> None:
    view = viewed(created("my password is hunter2-Xq9!", **BASIS))
    memory = view.columns.memories[0]
    for told in (detail(view, memory, at(1)), why(view, memory, at(1))):
        assert (told["because"], told["metadata"]) == (None, {})
        assert told["grounds"] == [{"uri": None, "digest": OLD, "reported": None, "changed": False}]
    shown = detail(view, memory, at(1), reveal=True)
    assert (shown["because"], shown["grounds"][0]["uri"]) == (BASIS["because"], PAGE)
    assert shown["memory"] != WITHHELD


def test_lists_tell_it_where_there_is_any() -> None:
    view = viewed(created(**BASIS), created(of="n"))
    told = {card["id"]: card for card in listing(ViewQuery(view, at(1), "normal"), 10, 0)["memories"]}
    assert told["m"]["because"] == BASIS["because"]
    assert told["m"]["metadata"] == BASIS["metadata"]
    assert {"because", "grounds", "metadata", "ground_changed"}.isdisjoint(told["n"])


# --- changed --------------------------------------------------------------------------------------------------------


def shown(*events: Told) -> dict[str, list[str]]:
    """Mode -> ids that it lists."""
    view = viewed(*events)
    return {mode: [card["id"] for card in listing(ViewQuery(view, at(2), mode), 10, 0)["memories"]] for mode in MODES}


def test_a_changed_ground_withholds_the_memory_from_normal_mode_and_says_why() -> None:
    told = created(**BASIS), changed()
    assert shown(*told) == {"normal": [], "review": ["m"], "debug": ["m"]}
    view = viewed(*told)
    assert listing(ViewQuery(view, at(2), "normal"), 10, 0)["withheld"] == [
        {"reason": "ground_changed", "count": 1, "shown_by": "review"}
    ]
    card = listing(ViewQuery(view, at(2), "review"), 10, 0)["memories"][0]
    assert (card["ground_changed"], card["grounds"][0]["changed"], card["grounds"][0]["reported"]) == (True, True, NEW)


@each_row(
    "back",
    [changed(OLD, day=1.5), revised(day=1.5, grounds=(Ground(uri=PAGE, digest=NEW),)), revised(day=1.5, grounds=())],
)
def test_it_comes_back_when_the_old_digest_is_reported_or_grounds_are_given_anew(back: Told) -> None:
    assert shown(created(**BASIS), changed(), back)["normal"] == ["m"]


def test_any_of_several_grounds_withholds_and_each_must_hold_again() -> None:
    grounds = Ground(uri=PAGE, digest=OLD), Ground(uri=FILE, digest=OLD)
    told = created(grounds=grounds), changed(), changed(uri=FILE, day=1.1)
    assert one(*told).grounds_changed == (PAGE, FILE)
    assert one(*told, changed(OLD, day=1.2)).grounds_changed == (FILE,)
    assert one(*told, changed(OLD, day=1.2), changed(OLD, uri=FILE, day=1.3)).grounds_changed == ()


def test_the_newest_report_decides_in_whatever_order_reports_come() -> None:
    told = changed(NEW, day=1), changed(OLD, day=2)
    assert one(created(**BASIS), *told).grounds_changed == one(created(**BASIS), *reversed(told)).grounds_changed == ()


def test_a_report_of_before_the_grounds_were_given_changes_nothing() -> None:
    late = created(**BASIS, day=5), changed(day=1)
    assert one(*late).grounds_changed == ()
    assert decisions(*late)[-1] == ("ignored", "something newer is known of that ground")


def test_a_report_about_what_the_memory_does_not_rest_on_is_ignored_with_the_reason() -> None:
    for told in (created(), created(**BASIS)):
        assert decisions(told, changed(uri=FILE))[-1] == ("ignored", "it does not rest on that")


def test_a_report_of_the_digest_that_is_known_is_noted_and_withholds_nothing() -> None:
    assert decisions(created(**BASIS), changed(OLD))[-1] == ("ground", "what it rests on is as it was told")
    assert one(created(**BASIS), changed(OLD)).basis == Basis(
        BASIS["because"],
        (Rests(PAGE, OLD),),
        at(0),
        (Report(PAGE, OLD, at(1)),),
        one(created(**BASIS)).basis.metadata,  # type: ignore[union-attr]
    )


# --- merged ---------------------------------------------------------------------------------------------------------


def test_a_merge_rests_on_what_its_sources_rest_on_and_is_no_way_around_what_changed() -> None:
    told = created(**BASIS), created(of="n", day=0.5, because="n", grounds=(Ground(uri=FILE, digest=OLD),)), changed()
    into = one(*told, merged("m", "n", day=2), of="all")
    assert into.basis is not None
    assert {rests.uri for rests in into.basis.grounds} == {PAGE, FILE}
    assert (into.basis.because, into.grounds_changed) == ("n", (PAGE,))


def test_of_more_grounds_than_a_memory_may_have_a_merge_keeps_those_that_changed() -> None:
    many = [
        created(of=name, day=day, grounds=tuple(Ground(uri=f"{name}{number}", digest=OLD) for number in range(16)))
        for day, name in enumerate("mn")
    ]
    into = one(*many, changed(uri="m15", day=2), merged("m", "n", day=3), of="all")
    assert into.basis is not None
    assert (len(into.basis.grounds), into.grounds_changed) == (16, ("m15",))


def test_what_changed_while_a_merge_stood_for_them_is_known_to_the_sources_that_come_back() -> None:
    told = created(**BASIS), created(of="n", day=0.5), merged("m", "n", day=1), changed(of="all", day=2)
    assert one(*told, of="m").grounds_changed == ()
    assert one(*told, unmerged(day=3), of="m").grounds_changed == (PAGE,)
