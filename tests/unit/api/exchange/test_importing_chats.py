"""Importing exported chats: the shapes, what is refused and where, times and ids, and that importing again appends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.exchange.files import open_chats
from engramlog_server.events.catalogue import MemoryCreated, TurnRecorded
from engramlog_server.events.envelope import decode, derived_id
from engramlog_server.events.errors import InputError, StoreUnavailable
from engramlog_server.events.log import Appendable, AppendReceipt
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.vocabulary import MAX_TEXT_BYTES
from engramlog_server.projections.fold.owner import AnyEvent
from tests.given.chats import ANSWERED, ASKED, CHATGPT, CLAUDE, OPENAI, SHAPES, chatted, file_of, node, said
from tests.given.records import new_log
from tests.given.samples import NOW
from tests.rows import each_row

NEW_YEAR = "2024-01-01T08:00:00Z"
each_shape = pytest.mark.parametrize("shape", SHAPES)


def turns(events: list[AnyEvent]) -> list[tuple[str, str, str]]:
    """Role, text and time of each turn."""
    return [
        (one.data.role, one.data.text, one.occurred_at.isoformat())
        for one in events
        if isinstance(one.data, TurnRecorded)
    ]


def ids(events: list[AnyEvent]) -> list[str]:
    return [one.data.turn_id for one in events if isinstance(one.data, TurnRecorded)]


def with_messages(*messages: Any, **more: Any) -> dict[str, Any]:
    """A conversation of OpenAI messages without id or times."""
    return {"messages": list(messages), **more}


def say(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


@each_row("dots", [".", ".."])
def test_a_conversation_whose_id_no_path_can_hold_gets_another(dots: str) -> None:
    answer, events = chatted(file_of(OPENAI | {"id": dots}))
    assert answer.imported.turns == 2
    assert len({one.session_id for one in events} - {None, dots}) == 1


# --- the shapes -----------------------------------------------------------------------------------------------------


@each_shape
@pytest.mark.parametrize("whole", [False, True])
def test_each_shape_is_recognised_and_becomes_the_same_turns_and_memories(shape: str, whole: bool) -> None:
    answer, events = chatted(file_of(SHAPES[shape], whole=whole))
    assert (answer.shape, answer.conversations, answer.imported.turns) == (shape, 1, 2)
    asked, answered = turns(events)
    assert (asked, answered[:2]) == (("user", ASKED, "2024-01-01T08:00:00+00:00"), ("assistant", ANSWERED))
    assert {one.session_id for one in events} == {"c1"}
    assert [one.data.content for one in events if isinstance(one.data, MemoryCreated)] == [ASKED, ANSWERED]


@each_row(
    ("shape", "left_out", "skipped"),
    [
        ("openai", {"system": 1, "tool": 1, "attachment": 1}, 1),
        ("claude", {}, 0),
        ("chatgpt", {"system": 1, "hidden": 1, "tool": 2, "other": 1, "abandoned": 1}, 0),
    ],
)
def test_what_nobody_said_is_left_out_and_counted(shape: str, left_out: dict[str, int], skipped: int) -> None:
    answer, _ = chatted(file_of(SHAPES[shape]))
    assert (answer.as_dict()["left_out"], answer.imported.skipped) == (left_out, skipped)


def test_of_a_tree_the_current_branch_is_followed_and_others_are_not() -> None:
    _, events = chatted(file_of(CHATGPT | {"current_node": "u0"}))
    assert turns(events) == [("user", "我早上喝茶。", "2024-01-01T08:00:00+00:00")]


def test_a_tree_without_current_node_is_followed_from_its_only_leaf() -> None:
    mapping = {"a": node("a", None, ["b"], said("a", "user", "one")), "b": node("b", "a", [], said("b", "user", "two"))}
    _, events = chatted(file_of({"id": "c", "mapping": mapping}))
    assert ids(events) == ["c/a", "c/b"]


def test_spoken_parts_have_their_transcription_and_pictures_nothing() -> None:
    parts = [{"content_type": "image_asset_pointer"}, {"content_type": "audio_transcription", "text": "你好"}, "hello"]
    message = said("a", "user", "", content={"content_type": "multimodal_text", "parts": parts})
    _, events = chatted(file_of({"id": "c", "current_node": "a", "mapping": {"a": node("a", None, [], message)}}))
    assert [text for _, text, _ in turns(events)] == ["你好\nhello"]


@each_row("whole", [False, True])
def test_a_list_of_messages_alone_is_one_conversation(whole: bool) -> None:
    listed = [say("one"), say("two", "assistant")]
    lines = file_of(*listed, whole=True) if whole else file_of(listed)
    answer, events = chatted(lines, since=NEW_YEAR)
    assert (answer.conversations, [text for _, text, _ in turns(events)]) == (1, ["one", "two"])


def test_lines_of_turns_are_imported_as_import_turns_does() -> None:
    lines = file_of({"turn_id": "t1", "occurred_at": NEW_YEAR, "speaker": "user", "text": ASKED, "conversation": "ada"})
    answer, events = chatted([b"\xef\xbb\xbf\n", *lines], owner=None)
    assert (answer.shape, ids(events), answer.as_dict()["owners"]) == ("lines", ["t1"], {"ada": 1})


def test_the_owner_may_be_a_field_of_the_conversation() -> None:
    answer, _ = chatted(file_of(OPENAI | {"conversation": "lin"}, OPENAI | {"conversation": "ada"}), owner=None)
    assert answer.imported.owners == {"lin": 2, "ada": 2}


# --- what is refused ------------------------------------------------------------------------------------------------


@each_row(
    ("content", "got"),
    [
        (b"", "nothing but empty lines"),
        (b"\n \n", "nothing but empty lines"),
        (b"hello", "hello"),
        (b"{", "{"),
        (b"7", "a int: 7"),
        (b"{}", "an object without fields"),
        (b'{"prompt": "x", "completion": "y"}', "an object with prompt, completion"),
        (b'[{"prompt": "x"}]', "an object with prompt"),
        (b'["x"]', "a str: x"),
        (b'[{"turn_id": "t"}]', "a list of turns"),
    ],
)
def test_a_file_of_no_known_shape_is_refused_with_what_it_is(content: bytes, got: str) -> None:
    with pytest.raises(InputError) as refusal:
        open_chats(iter(content.splitlines(keepends=True)))
    assert (refusal.value.context["field"], refusal.value.context["got"]) == ("file", got)


@each_row(("shape", "allowed"), [("claude", "claude (chat_messages)"), ("nonsense", "auto, lines, chatgpt")])
def test_a_shape_that_the_file_is_not_is_refused(shape: str, allowed: str) -> None:
    with pytest.raises(InputError, match=r"allowed: ") as refusal:
        open_chats(iter(file_of(OPENAI)), shape)
    assert allowed in refusal.value.message


@each_row("whole", [False, True])
def test_conversations_of_several_shapes_are_read_unless_one_is_asked_for(whole: bool) -> None:
    answer, events = chatted(file_of(OPENAI, CLAUDE | {"uuid": "c2"}, whole=whole))
    assert (answer.shape, answer.conversations, len(turns(events))) == ("mixed", 2, 4)
    answer, events = chatted(file_of(OPENAI, CLAUDE, whole=whole), shape="openai")
    assert (answer.conversations, answer.left_out["other_shape"], len(turns(events))) == (1, 1, 2)


def test_a_document_or_a_line_over_the_size_is_refused_with_what_to_do() -> None:
    for lines in (file_of(OPENAI, whole=True), file_of(OPENAI)):
        with pytest.raises(InputError, match=r"at most 100 bytes in one piece; write a conversation a line"):
            open_chats(iter(lines), largest=100)


def test_messages_without_any_time_need_a_beginning() -> None:
    answer, events = chatted(file_of(with_messages(say("x"))))
    assert answer.imported.done.error is not None
    assert "--since TIME" in answer.imported.done.error.message
    assert events == []


def test_one_message_without_any_time_is_left_out_where_others_have_one() -> None:
    chats = with_messages(say("x")), with_messages(say("y", created_at=NEW_YEAR))
    answer, events = chatted(file_of(*chats))
    assert (answer.imported.done.error, answer.left_out["no_time"], len(turns(events))) == (None, 1, 1)


def test_a_message_over_64_kib_is_left_out_and_counted() -> None:
    answer, events = chatted(file_of(with_messages(say("长" * 22_000), say("short"))), since=NEW_YEAR)
    told = answer.as_dict()
    assert (told["left_out"], told["too_long"], [text for _, text, _ in turns(events)]) == (
        {"too_long": 1},
        1,
        ["short"],
    )


def test_a_message_over_64_kib_is_cut_where_that_is_asked_for_and_importing_again_appends_nothing() -> None:
    lines, log = file_of(with_messages(say("长" * 22_000), say("short"))), new_log()
    answer, events = chatted(lines, log, since=NEW_YEAR, long_turns="cut")
    again, _ = chatted(lines, log, since=NEW_YEAR, long_turns="cut")
    told, (long, short) = answer.as_dict(), [text for _, text, _ in turns(events)]
    assert (told["left_out"], told["cut"], told["too_long"]) == ({}, 1, 0)
    assert (long[:3], long[-1], short, MAX_TEXT_BYTES - 3 <= len(long.encode()) <= MAX_TEXT_BYTES) == (
        "长长长",
        "…",
        "short",
        True,
    )
    assert again.imported.done.appended == 0


def test_messages_on_branches_that_were_given_up_are_counted() -> None:
    answer, _ = chatted(file_of(CHATGPT | {"current_node": "u0"}))
    assert answer.as_dict()["left_out"] == {"system": 1, "abandoned": 6}


def test_pictures_and_files_are_counted_once_however_they_are_told() -> None:
    parts = [{"content_type": "image_asset_pointer"}, "look"]
    message = said("a", "user", "", content={"content_type": "multimodal_text", "parts": parts})
    message["metadata"] = {"attachments": [{"name": "a.png"}, {"name": "b.pdf"}]}
    tree = {"id": "c", "current_node": "a", "mapping": {"a": node("a", None, [], message)}}
    files = {"attachments": [{"file_name": "a.txt", "extracted_content": "x"}], "files": [{"file_name": "b.png"}]}
    claude = CLAUDE | {"chat_messages": [CLAUDE["chat_messages"][0] | files]}
    assert [chatted(file_of(one))[0].as_dict()["left_out"] for one in (tree, claude)] == [
        {"attachment": 2},
        {"attachment": 1},  # the text of the other is part of the message
    ]


# --- times and ids --------------------------------------------------------------------------------------------------


def test_a_message_without_time_is_a_minute_after_the_one_before_it() -> None:
    messages = [say("a"), say("b"), say("c", created_at="2024-01-02T00:00:00+08:00"), say("d")]
    _, events = chatted(file_of(with_messages(*messages)), since=NEW_YEAR)
    assert [at[5:16] for _, _, at in turns(events)] == ["01-01T08:00", "01-01T08:01", "01-01T16:00", "01-01T16:01"]


@each_shape
def test_importing_again_appends_nothing(shape: str) -> None:
    log = new_log()
    bare = {key: value for key, value in SHAPES[shape].items() if key not in ("id", "uuid", "conversation_id")}
    lines = file_of(SHAPES[shape], bare, bare)
    first, events = chatted(lines, log)
    again, _ = chatted(lines, log)
    assert (first.imported.done.appended, len(ids(events)), len(set(ids(events)))) == (12, 6, 6)
    assert (again.imported.done.appended, again.imported.done.already_appended) == (0, 12)
    assert len({one.session_id for one in events}) == 3


@given(
    st.lists(st.lists(st.sampled_from(["hi", "你好", "ok"]), min_size=1, max_size=4), min_size=1, max_size=4), st.data()
)
def test_a_conversation_that_has_grown_adds_only_what_is_new(chats: list[list[str]], data: st.DataObject) -> None:
    log = new_log()
    chatted(file_of(*(with_messages(*map(say, texts)) for texts in chats)), log, since=NEW_YEAR)
    grown = [*chats]
    which = data.draw(st.integers(0, len(chats) - 1))
    grown[which] = [*chats[which], "new"]
    answer, events = chatted(file_of(*(with_messages(*map(say, texts)) for texts in grown)), log, since=NEW_YEAR)
    assert (answer.imported.done.appended, answer.imported.done.conflicts) == (2, [])
    assert len(turns(events)) == sum(map(len, grown))


SAID = ["My PIN reminder is the dog's birthday", "我对花生过敏。"]


def of_0_2(texts: list[str], name: str | None = None) -> set[str]:
    """Every id that release 0.2 gave to such a conversation, by its formulas as they were written."""
    when = [f"2024-01-01T08:{minute:02}:00Z" for minute in range(len(texts))]
    opening = derived_id("chat opening", when[0], "user", texts[0])
    session = derived_id("chat opening", opening, "0") if name is None else derived_id("chat conversation", name)
    made = [
        derived_id("chat turn", session, str(n), at, "user", text)
        for n, (at, text) in enumerate(zip(when, texts, strict=True))
    ]
    return {
        opening,
        session,
        *made,
        *(derived_id(f"import {what}", "ada", one) for one in made for what in ("turn", "memory")),
    }


def all_ids(events: list[AnyEvent]) -> set[str]:
    """Every id that a log shows of these events."""
    told = {part for one in events for part in (one.event_id, one.session_id, one.causation_id)}
    return {one for one in told if one} | set(ids(events))


@each_row("name", [None, "Doctor's letters, 医生"])
def test_no_id_confirms_a_guess_of_what_was_said_or_of_what_the_conversation_is_called(name: str | None) -> None:
    chat = with_messages(*map(say, SAID)) if name is None else with_messages(*map(say, SAID), id=name)
    _, events = chatted(file_of(chat), since=NEW_YEAR)
    assert len(all_ids(events)) == 7
    assert all_ids(events) & of_0_2(SAID, name) == set()


def test_two_owners_who_said_the_same_have_no_id_in_common() -> None:
    log, chat = new_log(), with_messages(*map(say, SAID))
    one, other = (chatted(file_of(chat), log, since=NEW_YEAR, owner=owner)[0] for owner in ("ada", "lin"))
    assert (one.imported.done.appended, other.imported.done.appended) == (4, 4)
    stored = [decode(each.kind, each.body) for n in range(log.partitions) for each in log.read(n, 0)]
    mine, theirs = (all_ids([each for each in stored if each.owner == owner]) for owner in ("ada", "lin"))
    assert (len(mine), mine & theirs) == (7, set())


@each_row("owner", ["", "no owner", "x" * 129, "o\u200bne", 7])
def test_no_secret_is_made_for_an_owner_whom_the_door_refuses(owner: Any) -> None:
    log = new_log()
    answer, _ = chatted(file_of(with_messages(say("hi")) | {"conversation": owner}), log, owner=None, since=NEW_YEAR)
    error = answer.imported.done.error
    assert isinstance(error, InputError)
    assert "line 1, message 1: " in error.message
    assert log.secrets_of([str(owner)]) == {}


class Dies(InMemoryEventLog):
    """A log whose process is killed before a request."""

    left = 1

    def append(self, events: Sequence[Appendable], **options: Any) -> list[AppendReceipt]:
        """As the log's, until it dies."""
        self.left -= 1
        if self.left < 0:
            raise StoreUnavailable("killed")
        return super().append(events, **options)


def test_an_import_killed_in_the_middle_and_repeated_adds_the_rest_once() -> None:
    log = Dies(lambda: NOW)
    chat = file_of(with_messages(*(say(f"message {n} 第{n}条") for n in range(1_200))))
    first, _ = chatted(chat, log, since=NEW_YEAR)
    log.left = 9
    again, events = chatted(chat, log, since=NEW_YEAR)
    assert (first.imported.done.appended, first.imported.done.exit_code) == (1_000, 3)
    assert (again.imported.done.appended, again.imported.done.already_appended) == (1_400, 1_000)
    assert (len(set(ids(events))), len({one.session_id for one in events})) == (1_200, 1)


def test_one_message_in_two_conversations_is_a_turn_in_each() -> None:
    answer, events = chatted(file_of(CLAUDE, CLAUDE | {"uuid": "c2"}))
    assert (answer.imported.done.exit_code, ids(events)) == (0, ["c1/m1", "c1/m2", "c2/m1", "c2/m2"])


def test_a_message_changed_under_its_id_is_told_with_conversation_and_message() -> None:
    log = new_log()
    chatted(file_of(CLAUDE | {"uuid": "c0"}, CLAUDE), log)
    changed = orjson.loads(orjson.dumps(CLAUDE))
    changed["chat_messages"][1]["content"][1]["text"] = "Noted: tea."
    answer, _ = chatted(file_of(CLAUDE | {"uuid": "c0"}, changed), log)
    assert {(one["conversation"], one["message"]) for one in answer.imported.done.conflicts} == {(2, 2)}


@each_row("shape", ["auto", "claude"])
def test_an_export_without_conversations_is_refused(shape: str) -> None:
    with pytest.raises(InputError, match="file: got 'an empty list'; allowed: conversations of one of the shapes"):
        chatted([b"[]"], shape=shape)


def test_the_shapes_that_a_command_names_are_those_that_are_read() -> None:
    from engramlog_server.api.choices import SHAPE_NAMES
    from engramlog_server.api.exchange import chat_shapes

    assert ("auto", chat_shapes.LINES, *chat_shapes.SHAPES) == SHAPE_NAMES
