"""What a deletion and a restoration lead to, by how the memories stand; pure: what the log says is given."""

from __future__ import annotations

from collections.abc import Mapping

from engramlog_server.events.catalogue import MemoryDeleted, MemoryRestored, MemoryUnmerged, ValueRejected
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.decide.deletion import (
    Delete,
    DeletionPlan,
    LastDeletion,
    PlannedDeletion,
    TakenAlong,
    plan_deletion,
    requests_of,
    restoration,
)
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion import DeletionCascade, Taken
from engramlog_server.projections.memory.rejection import turn_hash
from tests.given.events import Told, created, deleted, merged, value_of
from tests.given.views import viewed
from tests.rows import each_row

TURN = created("I adopted a hedgehog", "t1", 1, kind="episode", tier="fact", source_turns=("t1",))
OF_IT = created("Has a hedgehog", "pet", 2, "judge", source="judge", tier="fact", source_turns=("t1",))
TEA = created("I like tea", "tea", 2)
CORE = created("I am Lin", "lin", 3, tier="core")


def plan(*told: Told, wanted: tuple[str, ...], core: bool = False) -> DeletionPlan:
    columns = viewed(*told).columns
    memories = {one: columns.memories[columns.row(one) or 0] for one in wanted}
    return plan_deletion(
        Delete("ada", wanted, core=core, reason="moved", by_name=True),
        memories,
        DeletionCascade(columns),
        "event of {}".format,
        columns,
    )


def test_a_deletion_takes_along_what_was_made_of_it_and_names_itself_as_the_cause() -> None:
    found = plan(TURN, OF_IT, TEA, wanted=("t1",))
    first, value, along = found.planned[0].events(Delete("ada", ("t1",), reason="moved"))
    assert (type(value.data), value.causation_id) == (ValueRejected, "event of t1")
    assert first == (MemoryDeleted(memory_id="t1", reason="moved"), "event of t1", None, None, None, None, None)
    assert (along.data, along.causation_id) == (MemoryDeleted(memory_id="pet", reason="moved"), "event of t1")
    assert list(found.also) == ["pet"]


def test_the_turns_that_are_retracted_with_it_are_named_by_their_hashes() -> None:
    [of_turn] = plan(TURN, OF_IT, wanted=("t1",)).planned
    assert of_turn.turns == ("t1",)
    [alone] = plan(TURN, OF_IT, wanted=("pet",)).planned
    assert alone.turns == (), "its turn still says it"
    value = of_turn.events(Delete("ada", ("t1",)))[1].data
    assert isinstance(value, ValueRejected)
    assert value.turns == (turn_hash("t1").hex(),)


def test_what_goes_along_has_the_same_id_whenever_it_is_decided_and_another_for_another_owner() -> None:
    [one] = plan(TURN, OF_IT, wanted=("t1",)).planned
    names = [[made.event_id for made in one.events(Delete(owner, ("t1",)))] for owner in ("ada", "ada", "bob")]
    assert names[0] == names[1]
    assert names[0][1] != names[2][1]


def test_what_is_named_goes_by_itself_and_not_once_more_with_another() -> None:
    found = plan(TURN, OF_IT, wanted=("t1", "pet"))
    assert [(one.root, one.also) for one in found.planned] == [("t1", ()), ("pet", ())]


@each_row(("core", "planned", "spares"), [(False, [], True), (True, ["lin"], False)])
def test_a_core_memory_is_deleted_only_where_it_is_meant(core: bool, planned: list[str], spares: bool) -> None:
    found = plan(CORE, wanted=("lin",), core=core)
    assert ([one.root for one in found.planned], found.spares, list(found.skipped)) == (
        planned,
        spares,
        [] if core else ["lin"],
    )


def test_what_is_deleted_already_is_skipped_and_told_with_its_time() -> None:
    found = plan(TEA, deleted("tea", 5), wanted=("tea",))
    assert found.planned == []
    assert found.skipped["tea"].startswith("memory tea was deleted already, 20")


def test_a_merge_that_comes_apart_is_un_merged_before_it_is_deleted() -> None:
    planned = PlannedDeletion("t1", "root", (Taken("merge", "merged from t1", apart=True),))
    assert [made.data for made in planned.events(Delete("ada", ("t1",)), root=False)] == [
        MemoryUnmerged(into="merge"),
        MemoryDeleted(memory_id="merge"),
    ]
    assert planned.size == 3


def test_requests_hold_at_most_so_many_events_and_part_no_deletion_from_what_goes_with_it() -> None:
    also = tuple(Taken(f"a{number}", "made of it") for number in range(399))
    planned = [PlannedDeletion(f"m{number}", f"e{number}", also) for number in range(5)]
    requests = requests_of(planned)
    assert [one for request in requests for one in request] == planned
    assert [sum(one.size for one in request) for request in requests] == [800, 800, 400]
    assert MAX_REQUEST_EVENTS == 1_000
    assert requests_of([]) == []


def gone(name: str, seq: int, at: int) -> LastDeletion:
    """A deletion; its event's id ends with its seq."""
    return LastDeletion(id_text(seq.to_bytes(16, "big")), seq, at)


def taken_along(
    columns: Columns, deletions: dict[str, LastDeletion], causes: dict[str, str | None], *roots: str
) -> tuple[TakenAlong, set[str]]:
    """What deletions took along, and of which of them the log was asked."""
    asked: set[str] = set()

    def told(of: Mapping[str, LastDeletion]) -> dict[str, str | None]:
        asked.update(of)
        return {one: causes.get(one) for one in of}

    return TakenAlong(columns, deletions, [columns.memories[columns.row(one) or 0] for one in roots], told), asked


def test_what_a_deletion_took_along_comes_back_with_it_and_what_somebody_deleted_by_itself_does_not() -> None:
    columns = viewed(TURN, OF_IT, TEA, deleted("t1", 5), deleted("pet", 5), deleted("tea", 5)).columns
    deletions = {"t1": gone("t1", 4, 500), "pet": gone("pet", 5, 500), "tea": gone("tea", 6, 500)}
    memory = columns.memories[columns.row("t1") or 0]
    taken, asked = taken_along(columns, deletions, {"pet": deletions["t1"].event_id, "tea": None}, "t1")
    assert asked == {"t1", "pet", "tea"}
    assert (taken.by("t1"), taken.along(memory)) == (["pet"], ["pet"])
    assert DeletionCascade(columns).returning("t1", taken.along(memory)) == (["pet"], [])


def test_of_another_instant_only_what_shares_a_turn_or_was_made_of_it_may_come_back() -> None:
    columns = viewed(TURN, OF_IT, TEA, deleted("t1", 5), deleted("pet", 6), deleted("tea", 6)).columns
    deletions = {"t1": gone("t1", 4, 500), "pet": gone("pet", 5, 600), "tea": gone("tea", 6, 600)}
    assert taken_along(columns, deletions, {}, "t1")[1] == {"t1", "pet"}


def test_a_memory_that_a_job_took_away_comes_back_with_the_same_alone_and_among_many() -> None:
    columns = viewed(
        TURN, OF_IT, TEA, deleted("t1", 5, policy="auto_cleanup"), deleted("pet", 6), deleted("tea", 7)
    ).columns
    deletions = {"t1": gone("t1", 4, 500), "pet": gone("pet", 5, 600), "tea": gone("tea", 6, 700)}
    causes = {"pet": deletions["tea"].event_id}
    memory = columns.memories[columns.row("t1") or 0]
    alone, among = (taken_along(columns, deletions, causes, *roots)[0] for roots in (["t1"], ["tea", "t1"]))
    assert alone.along(memory) == among.along(memory) == ["pet"]


def test_a_restoration_is_an_event_for_each_with_ids_of_what_they_are_and_the_first_as_their_cause() -> None:
    made = restoration("ada", "t1", ["pet"], "root", "back")
    assert [(one.data, one.causation_id) for one in made] == [
        (MemoryRestored(memory_id="t1", reason="back"), None),
        (MemoryRestored(memory_id="pet", reason="back"), "root"),
    ]
    assert made == restoration("ada", "t1", ["pet"], "root", "back")


def rejected_by(
    *told: Told, wanted: tuple[str, ...], by_name: bool = True, **asked: bool
) -> dict[str, tuple[str, ...]]:
    columns = viewed(*told).columns
    memories = {one: columns.memories[columns.row(one) or 0] for one in wanted}
    cascade = DeletionCascade(columns)
    found = plan_deletion(
        Delete("ada", wanted, by_name=by_name, **asked), memories, cascade, "event of {}".format, columns
    )
    return {one.root: one.values for one in found.planned}


def test_what_a_person_deletes_by_name_is_rejected_and_only_that() -> None:
    assert rejected_by(TURN, OF_IT, TEA, wanted=("tea",)) == {"tea": (value_of("I like tea"),)}
    assert rejected_by(TURN, OF_IT, wanted=("pet",)) == {"pet": (value_of("Has a hedgehog"),)}


def test_what_is_deleted_among_others_or_by_a_job_is_rejected_only_if_asked() -> None:
    assert rejected_by(TEA, wanted=("tea",), by_name=False) == {"tea": ()}
    assert rejected_by(TEA, wanted=("tea",), by_name=False, never=True) == {"tea": (value_of("I like tea"),)}


def test_of_several_that_are_named_together_what_they_say_is_rejected_only_if_asked() -> None:
    assert rejected_by(TEA, TURN, wanted=("tea", "t1")) == {"tea": (), "t1": ()}
    asked = rejected_by(TEA, TURN, wanted=("tea", "t1"), never=True)
    assert asked == {"tea": (value_of("I like tea"),), "t1": (value_of("I adopted a hedgehog"),)}


@each_row("other", ["I like tea", "i like TEA!", "I  like\ttea."])
def test_of_two_that_say_the_same_one_is_deleted_without_rejecting_what_the_other_says(other: str) -> None:
    double = created(other, "double", 2)
    assert rejected_by(TEA, double, wanted=("tea",)) == {"tea": ()}
    assert rejected_by(TEA, double, wanted=("tea",), never=True) == {"tea": (value_of("I like tea"),)}
    assert rejected_by(TEA, double, deleted("double", 3), wanted=("tea",)) == {"tea": (value_of("I like tea"),)}


def test_with_a_merge_goes_what_it_was_merged_from_and_all_of_it_is_rejected() -> None:
    told = (TEA, created("Tea, gladly", "gladly", 2), merged("tea", "gladly", summary="Drinks tea", day=3))
    values = rejected_by(*told, wanted=("all",))["all"]
    assert set(values) == {value_of(text) for text in ("Drinks tea", "I like tea", "Tea, gladly")}


def test_the_same_call_with_and_without_never_are_two_calls() -> None:
    assert Delete("ada", ("tea",)).call != Delete("ada", ("tea",), never=True).call
    assert Delete("ada", ("tea",)).call == "delete 0 0 tea"
