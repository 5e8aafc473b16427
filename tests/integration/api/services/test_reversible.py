"""What extraction and its jobs decide can be taken back, and what may contradict is shown with both lines (memory.md, 4 and 5)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.api.exchange.turns import ImportOptions, import_turns
from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.events.envelope import canonical
from engramlog_server.events.errors import InputError
from engramlog_server.projections.memory.record import MAX_CONFLICTS
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, deleted, in_conflict
from tests.rows import each_row

EVER_CHANGING = {"weight", "as_of", "at", "position", "level"}


def since(store: Store) -> int:
    """The day on which the user begins to speak: lately, so that normal mode shows it."""
    return int(store.yesterday) - 12


def say(store: Store, owner: str, *texts: str, after: int = 0) -> None:
    """The user says these, a day each, and extraction reads them."""
    turns = (
        {"turn_id": f"t{n}", "occurred_at": day(since(store) + n), "speaker": "user", "text": text}
        for n, text in enumerate(texts, after)
    )
    import_turns(store.app.log, map(canonical, turns), ImportOptions(owner=owner))
    store.app.extractor.extract(owner)


def typed(store: Store, owner: str, at: str | None = None) -> dict[str, dict[str, Any]]:
    """What extraction made, by text, in any state."""
    listed = store.reader.list(owner, mode="debug", limit=100, at=at)["memories"]
    return {one["memory"]: one for one in listed if one["kind"] != "episode"}


@each_row(
    ("said", "old", "new", "status"),
    [
        (("I live in Berlin.", "I moved to Munich."), "User lives in Berlin", "User moved to Munich", "superseded"),
        (("I love coffee.", "I don't like coffee any more."), "User loves coffee", "", "kept_version"),
        (("我住在北京。", "我搬到上海了。"), "用户住在北京", "用户搬到上海了", "superseded"),
        (("我喜欢喝咖啡。", "我不喜欢喝咖啡了。"), "用户喜欢喝咖啡", "", "kept_version"),
    ],
)
def test_one_verb_undoes_what_the_judge_negated_and_both_lines_are_flagged(
    store: Store, said: tuple[str, str], old: str, new: str, status: str
) -> None:
    owner = store.owner()
    say(store, owner, *said)
    before = typed(store, owner)
    assert (before[old]["status"], before[old]["is_negated"]) == (status, True)
    (rival,) = [one for text, one in before.items() if text != old and text.startswith(new)]

    told = store.writer.confirm(owner, before[old]["id"])
    assert [(one["event"], one["decision"]) for one in told["changes"]] == [("MemoryMentioned", "reaffirm")]

    after = typed(store, owner)
    assert (after[old]["status"], after[old]["is_negated"]) == ("live", False)
    assert after[rival["memory"]]["status"] == "live"
    assert after[old]["conflicting"] == [{"id": rival["id"], "memory": rival["memory"]}]
    assert after[rival["memory"]]["conflicting"] == [{"id": before[old]["id"], "memory": old}]


def test_only_the_user_s_word_brings_a_memory_back_and_a_deleted_one_is_refused(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("likes tea", "tea"))
    store.writer.negate(owner, "tea")
    assert store.writer.confirm(owner, "tea", actor="assistant")["changes"][0]["decision"] != "reaffirm"
    assert store.reader.get(owner, "tea", trace=False)["is_negated"]
    store.app.deleter.delete_many(owner, ["tea"])
    with pytest.raises(InputError, match="engramlog delete --undo"):
        store.writer.confirm(owner, "tea")


# --- both lines


def flagged(store: Store) -> str:
    """An owner of whom a name is said twice, differently: extraction overwrites nothing."""
    owner = store.owner()
    say(store, owner, "My name is Ada Byron.", "My name is Ada Lovelace.")
    return owner


LINES = {"User's name is Ada Byron", "User's name is Ada Lovelace"}


def lines_of(told: dict[str, Any]) -> set[str]:
    """A memory's own text and those of what may contradict it."""
    return {told["memory"], *(one["memory"] for one in told["conflicting"])}


def test_search_list_get_and_why_show_a_possible_conflict_with_both_lines(store: Store) -> None:
    owner = flagged(store)
    listed = [one for one in store.reader.list(owner, limit=50)["memories"] if one["memory"] in LINES]
    found = store.reader.search(owner, "name Ada", limit=10, trace=False)["results"]
    searched = [one for one in found if one["memory"] in LINES]
    assert (len(listed), len(searched)) == (2, 2)
    for one in (*listed, *searched):
        assert lines_of(one) == LINES
        assert lines_of(store.reader.get(owner, one["id"], trace=False)) == LINES
        assert lines_of(store.reader.why(owner, one["id"])) == LINES


@pytest.mark.parametrize("command", [["search", "OWNER", "name Ada"], ["list", "OWNER"], ["why", "OWNER", "ID"]])
def test_the_command_line_prints_both_lines(
    store: Store, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    owner = flagged(store)
    one = typed(store, owner)["User's name is Ada Byron"]["id"]
    arguments = [{"OWNER": owner, "ID": one}.get(word, word) for word in command]
    assert run(lambda: nullcontext(store.app), arguments) == 0
    told = capsys.readouterr().out
    assert told.count("which of these holds?") == 1
    shown = told.partition("which of these holds?")[2]
    assert all(line in shown for line in LINES)


def test_neither_a_deleted_nor_a_secret_line_is_shown(store: Store) -> None:
    owner = store.owner()
    then = store.yesterday
    store.tell(
        owner,
        created("the gate's code is Tr0ub4dor&3", "secret", day=then, sensitivity=3),
        created("the gate has no code", "open", day=then),
        in_conflict("secret", "open", then),
    )
    (line,) = store.reader.get(owner, "open", trace=False)["conflicting"]
    assert (line["id"], "Tr0ub4dor" in line["memory"]) == ("secret", False)
    others = [f"n{number}" for number in range(MAX_CONFLICTS + 1)]
    store.tell(owner, created("crowded", "crowded", day=then), *(created(one, one, day=then) for one in others))
    store.tell(owner, *(in_conflict("crowded", one, then) for one in others), deleted("crowded", then))
    assert "conflicting" not in store.reader.get(owner, others[0], trace=False)


# --- near-duplicates

NEAR = "User loves hiking in the mountains"


def unchanging(store: Store, owner: str, memory_id: str) -> dict[str, Any]:
    """What a memory says of itself, whatever the hour."""
    told = store.reader.get(owner, memory_id, trace=False)
    return {name: value for name, value in told.items() if name not in EVER_CHANGING}


@each_row("further", [(), ("I love hiking in the mountains!!",)])
def test_what_the_job_merged_comes_back_as_it_was_also_after_further_mentions(
    store: Store, further: tuple[str, ...]
) -> None:
    owner = store.owner()
    say(store, owner, "I love hiking in the mountains.")
    told = typed(store, owner)[NEAR]
    like = {"kind": told["kind"], "category": told["category"], "tier": "fact", "source": "judge"}
    store.tell(
        owner, created(f"{NEAR}!", "again", day=since(store) + 0.5, actor="judge", speaker=told["speaker"], **like)
    )
    ids = (told["id"], "again")
    before = [unchanging(store, owner, one) for one in ids]

    lifecycle = LifecycleJobs(store.app.log, store.app.views)
    merged = lifecycle.carry_out(owner, ["merge"])
    store.app.extractor.extract(owner)  # which has all of it folded
    assert merged.as_dict()["counts"] == {"merge": 1}
    into = store.reader.get(owner, ids[0], trace=False)["merged_into"]
    assert store.reader.get(owner, "again", trace=False)["merged_into"] == into
    say(store, owner, *further, after=3)
    assert store.reader.get(owner, into, trace=False)["mention_count"] == 2 + len(further)

    store.writer.unmerge(owner, into)
    assert [unchanging(store, owner, one) for one in ids] == before
    assert store.reader.get(owner, into, trace=False)["status"] == "retired"
    assert set(ids) <= store.listed(owner, at=day(since(store) + 5))
    assert into not in store.listed(owner, at=day(since(store) + 5))
    again = lifecycle.carry_out(owner, ["merge"]).as_dict()["decisions"]
    assert not {one for decision in again for one in decision["ids"]} & {*ids, into}

    say(store, owner, "I love hiking in the mountains!!!", after=8)
    assert sum(store.reader.get(owner, one, trace=False)["mention_count"] for one in ids) == 3
    assert store.reader.get(owner, into, trace=False)["mention_count"] == 2 + len(further)
