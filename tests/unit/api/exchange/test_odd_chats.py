"""Odd exports: what can be read becomes turns, the rest is left out by reason, and the import goes on."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from gzip import compress
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import orjson
import pytest

from engramlog_server.api.exchange import files
from engramlog_server.api.exchange.chat_shapes import time_of
from engramlog_server.api.exchange.chats import UNREADABLE
from engramlog_server.api.exchange.files import open_chats
from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.errors import InputError
from tests.given.chats import AT, CHATGPT, CLAUDE, chatted, file_of, node, said
from tests.given.records import new_log
from tests.rows import each_row

SINCE = "2024-01-01T08:00:00Z"
GOOD = {"messages": [{"role": "user", "content": "I moved to Lisbon."}]}
ROOT = "00000000-0000-4000-8000-000000000000"


def read(data: bytes, **options: Any) -> tuple[list[tuple[str, str]], dict[str, int], dict[str, int]]:
    """Role and text of each turn, what was left out, and what was adjusted. The import must not stop."""
    answer, events = chatted(data.splitlines(keepends=True), since=SINCE, **options)
    assert answer.imported.done.error is None, answer.imported.done.error.message
    assert len(answer.unreadable) == sum(answer.left_out[reason] for reason in UNREADABLE)
    turns = [(one.data.role, one.data.text) for one in events if isinstance(one.data, TurnRecorded)]
    told = answer.as_dict()
    return turns, told["left_out"], told["adjusted"]


def tree(*messages: Any, **more: Any) -> dict[str, Any]:
    """A ChatGPT conversation of these messages, one after the other."""
    nodes = {
        f"n{at}": node(
            f"n{at}", f"n{at - 1}" if at else None, [f"n{at + 1}"] if at + 1 < len(messages) else [], message
        )
        for at, message in enumerate(messages)
    }
    return {"id": "c", "create_time": AT, "current_node": f"n{len(messages) - 1}", "mapping": nodes} | more


def two_answers(**more: Any) -> dict[str, Any]:
    """A ChatGPT conversation of a question with two answers, the second newer."""
    mapping = {
        "q": node("q", None, ["a", "b"], said("q", "user", "hello")),
        "b": node("b", "q", [], said("b", "assistant", "new", AT + 9)),
        "a": node("a", "q", [], said("a", "assistant", "old", AT + 5)),
    }
    return {"id": "c", "create_time": AT, "mapping": mapping} | more


def claude(*messages: Any) -> dict[str, Any]:
    return {"uuid": "k", "created_at": "2024-01-01T08:00:00Z", "chat_messages": list(messages)}


def human(text: str | None, name: str = "m", **more: Any) -> dict[str, Any]:
    return {"uuid": name, "sender": "human", "text": text} | more


def openai(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages)} | more


def archive(**files: bytes) -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as writing:
        for name, content in files.items():
            writing.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def lines(*values: Any) -> bytes:
    return b"".join(file_of(*values))


def without(message: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != field}


ONE = orjson.dumps(GOOD)
HELLO, LISBON = ("user", "hello"), ("user", "I moved to Lisbon.")
ASKED = said("q", "user", "hello")
VOICE = {"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": None}]}
PASTED = {"attachments": [{"file_name": "p.txt", "extracted_content": "pasted"}]}
CODE = {"sessionId": "s", "timestamp": "2024-01-01T08:00:00Z"}
LANGCHAIN = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "HumanMessage"],
    "kwargs": {"content": "hello"},
}
CODEX = [
    {"type": "session_meta", "timestamp": SINCE, "payload": {"id": "s"}},
    {
        "type": "response_item",
        "timestamp": SINCE,
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
    },
    {"type": "response_item", "timestamp": SINCE, "payload": {"type": "function_call", "name": "ls"}},
]
WEBUI = {
    "a": {"id": "a", "parentId": None, "childrenIds": ["b"], "role": "user", "content": "hello", "timestamp": AT},
    "b": {"id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "ok", "timestamp": AT + 1},
}
LIBRE = [
    {"messageId": "1", "parentMessageId": ROOT, "isCreatedByUser": True, "sender": "User", "text": "old"},
    {"messageId": "2", "parentMessageId": ROOT, "isCreatedByUser": True, "sender": "User", "text": "hello"},
    {"messageId": "3", "parentMessageId": "2", "isCreatedByUser": False, "sender": "GPT-4", "text": "ok"},
]
OK = ("assistant", "ok")

FORMS: dict[str, tuple[bytes, list[tuple[str, str]], dict[str, int]]] = {
    # messages
    "no content": (lines(tree(without(ASKED, "content"), ASKED)), [HELLO], {"no_content": 1}),
    "null content": (lines(tree(ASKED | {"content": None}, ASKED)), [HELLO], {"no_content": 1}),
    "no author": (lines(tree(without(ASKED, "author"), ASKED)), [HELLO], {"no_role": 1}),
    "no role": (lines(tree(ASKED | {"author": {"name": None}}, ASKED)), [HELLO], {"no_role": 1}),
    "a role by the author's name": (lines(tree(ASKED | {"author": {"name": "user"}})), [HELLO], {}),
    "an unknown role": (lines(tree(ASKED | {"author": {"role": "critic"}}, ASKED)), [HELLO], {"unknown_role": 1}),
    "a message that is a number": (lines(tree(7, ASKED)), [HELLO], {"bad_content": 1}),
    "a voice without a text": (lines(tree(ASKED | {"content": VOICE}, ASKED)), [HELLO], {"no_content": 1}),
    "a voice next to a text": (
        lines(tree(ASKED | {"content": VOICE | {"parts": [*VOICE["parts"], "hello"]}})),
        [HELLO],
        {"part": 1},
    ),
    "content that is a text": (lines(tree(ASKED | {"content": "hello"})), [HELLO], {}),
    "an unknown sender": (lines(claude(human("x", sender="robot"), human("hello"))), [HELLO], {"unknown_role": 1}),
    "a message without anything": (lines(claude({"sender": "human"}, human("hello"))), [HELLO], {"no_content": 1}),
    "roles of other programs": (
        lines(openai(*({"role": role, "content": "ok"} for role in ("model", "bot", "AI")))),
        [OK] * 3,
        {},
    ),
    "content that is a number": (lines(openai({"role": "user", "content": 7}), GOOD), [LISBON], {"bad_content": 1}),
    "a part that is a number": (lines(openai({"role": "user", "content": ["hello", 7]})), [HELLO], {"part": 1}),
    "an id twice": (
        lines(
            openai({"role": "user", "content": "hello", "id": "m"}, {"role": "user", "content": "x", "id": "m"}, id="c")
        ),
        [HELLO],
        {"repeated_id": 1},
    ),
    # conversations
    "one that is none": (orjson.dumps([{"title": "broken"}, GOOD, 7, None]), [LISBON], {"unknown_shape": 3}),
    "a line that is no JSON": (
        lines(GOOD) + b"{broken\n" + lines(openai(*GOOD["messages"])),
        [LISBON] * 2,
        {"unknown_shape": 1},
    ),
    "a first line that is none": (lines({"version": 1}, GOOD), [LISBON], {"unknown_shape": 1}),
    "mapping null": (lines({"mapping": None}, GOOD), [LISBON], {"no_messages": 1}),
    "messages null": (lines({"messages": None}, GOOD), [LISBON], {"no_messages": 1}),
    "chat_messages an object": (lines({"chat_messages": {}}, GOOD), [LISBON], {"no_messages": 1}),
    "current_node dangling": (lines(two_answers(current_node="z")), [HELLO, ("assistant", "new")], {"abandoned": 1}),
    "current_node null": (lines(two_answers(current_node=None)), [HELLO, ("assistant", "new")], {"abandoned": 1}),
    "current_node missing": (lines(two_answers()), [HELLO, ("assistant", "new")], {"abandoned": 1}),
    "a node that is its own parent": (
        lines({"current_node": "a", "mapping": {"a": node("a", "a", ["a"], ASKED)}}),
        [HELLO],
        {},
    ),
    "parents missing": (
        lines(
            {
                "current_node": "a",
                "mapping": {"q": {"message": ASKED, "children": ["a"]}, "a": {"message": said("a", "assistant", "ok")}},
            }
        ),
        [HELLO, OK],
        {},
    ),
    # Claude
    "an edited first message": (
        lines(
            claude(
                human("old", "1", parent_message_uuid=ROOT),
                human("ok", "2", sender="assistant", parent_message_uuid="1"),
                human("hello", "3", parent_message_uuid=ROOT),
                human("ok", "4", sender="assistant", parent_message_uuid="3"),
            )
        ),
        [HELLO, OK],
        {"abandoned": 2},
    ),
    "an edited later message": (
        lines(
            claude(
                human("hello", "1", parent_message_uuid=ROOT),
                human("old", "2", parent_message_uuid="1"),
                human("ok", "3", sender="assistant", parent_message_uuid="1"),
            )
        ),
        [HELLO, OK],
        {"abandoned": 1},
    ),
    "a parent that is missing": (
        lines(claude(human("hello", "1", parent_message_uuid=ROOT), human("hello", "2", parent_message_uuid="gone"))),
        [HELLO] * 2,
        {},
    ),
    "pasted text alone": (
        lines(claude(human("", content=[{"type": "text", "text": ""}], **PASTED))),
        [("user", "pasted")],
        {},
    ),
    "pasted text next to a text": (lines(claude(human("hello", **PASTED))), [("user", "hello\npasted")], {}),
    "pasted text that is too long": (
        lines(claude(human("hello", attachments=[{"extracted_content": "x" * 70_000}]))),
        [HELLO],
        {"attachment": 1},
    ),
    "a voice note": (lines(claude(human("", content=[{"type": "voice_note", "text": "hello"}]))), [HELLO], {}),
    "memories": (
        lines(
            [{"conversations_memory": "# Work\n\n- Glazier in Turin.", "project_memories": {"p": "Repairs clocks."}}]
        ),
        [("assistant", "Glazier in Turin."), ("assistant", "Repairs clocks.")],
        {},
    ),
    # other exports
    "wrapped": (orjson.dumps({"conversations": [GOOD]}), [LISBON], {}),
    "wrapped twice": (orjson.dumps({"data": {"chats": [GOOD, 7]}}), [LISBON], {"unknown_shape": 1}),
    "conversations by id": (orjson.dumps({"a": GOOD, "b": 7}), [LISBON], {"unknown_shape": 1}),
    "ShareGPT": (
        lines({"conversations": [{"from": "human", "value": "hello"}, {"from": "gpt", "value": None}]}),
        [HELLO],
        {"no_content": 1},
    ),
    "Open WebUI": (
        orjson.dumps([{"id": "o", "created_at": AT, "chat": {"history": {"messages": WEBUI, "currentId": "b"}}}]),
        [HELLO, OK],
        {},
    ),
    "LibreChat": (lines({"conversationId": "l", "messages": LIBRE}), [HELLO, OK], {"abandoned": 1}),
    "Claude Code": (
        lines(
            {"type": "summary", "summary": "s", "leafUuid": "x"},
            CODE | {"type": "user", "uuid": "1", "message": {"role": "user", "content": "hello"}},
            CODE | {"type": "user", "uuid": "2", "message": {"role": "user", "content": [{"type": "tool_result"}]}},
            CODE
            | {
                "type": "assistant",
                "uuid": "3",
                "message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}]},
            },
            CODE | {"type": "user", "uuid": "4", "isMeta": True, "message": {"role": "user", "content": "x"}},
        ),
        [HELLO, OK],
        {"other": 1, "tool": 1, "hidden": 1},
    ),
    "Codex": (lines(*CODEX), [HELLO], {"other": 1, "tool": 1}),
    "LangChain types": (
        lines(openai({"type": "human", "content": "hello"}, {"type": "ai", "content": "ok"})),
        [HELLO, OK],
        {},
    ),
    "LangChain data": (lines([{"type": "human", "data": {"content": "hello"}}]), [HELLO], {}),
    "LangChain constructors": (lines([LANGCHAIN]), [HELLO], {}),
    "items of the Responses API": (
        lines(
            openai(
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
                {"type": "function_call", "name": "f", "arguments": "{}"},
                {"type": "reasoning", "summary": []},
            )
        ),
        [OK],
        {"tool": 1, "other": 1},
    ),
    "messages one a line": (
        lines({"role": "user", "content": "hello"}, {"role": "assistant", "content": "ok"}),
        [HELLO, OK],
        {},
    ),
    "types that are classes of LangChain": (
        lines([{"type": "HumanMessage", "content": "hello"}, {"type": "AIMessageChunk", "content": "ok"}]),
        [HELLO, OK],
        {},
    ),
    "parts next to an empty content": (
        lines(openai({"role": "assistant", "content": "", "parts": [{"type": "text", "text": "ok"}]})),
        [OK],
        {},
    ),
    "messages by their ids": (
        lines({"messages": {"a": {"role": "user", "content": "hello"}, "b": {"role": "assistant", "content": "ok"}}}),
        [HELLO, OK],
        {},
    ),
    "a thread below a message": (
        lines(
            openai(
                {"role": "user", "content": "hello", "replies": [{"role": "assistant", "content": "ok"}]},
                GOOD["messages"][0],
            )
        ),
        [HELLO, OK, LISBON],
        {},
    ),
    "messages under another name": (
        lines({"history": GOOD["messages"]}, {"turns": GOOD["messages"]}),
        [LISBON] * 2,
        {},
    ),
    "items around conversations": (
        orjson.dumps([{"id": 1, "thread": GOOD}, {"id": 2}]),
        [LISBON],
        {"unknown_shape": 1},
    ),
    "Grok": (
        orjson.dumps(
            {
                "conversations": [
                    {
                        "conversation": {"id": "g", "title": "t"},
                        "responses": [
                            {"response": {"_id": "1", "sender": "human", "message": "hello"}},
                            {"response": {"_id": "2", "sender": "ASSISTANT", "message": "ok"}},
                        ],
                    }
                ]
            }
        ),
        [HELLO, OK],
        {},
    ),
    "DeepSeek": (
        lines(
            tree(
                {"fragments": [{"type": "REQUEST", "content": "hello"}], "inserted_at": SINCE},
                {"fragments": [{"type": "THINK", "content": "x"}, {"type": "RESPONSE", "content": "ok"}]},
                {"fragments": [{"type": "THINK", "content": "x"}]},
            )
        ),
        [HELLO, OK],
        {"no_role": 1},
    ),
    "SillyTavern": (
        lines(
            {"user_name": "Ada", "character_name": "Bot"},
            {"name": "Ada", "is_user": True, "send_date": "January 1, 2024 8:00am", "mes": "hello"},
            {"name": "Bot", "is_user": False, "mes": "ok"},
        ),
        [HELLO, OK],
        {"unknown_shape": 1},
    ),
    # archives
    "an archive": (
        archive(
            conversations_json=orjson.dumps([GOOD]),
            more_jsonl=lines(openai({"role": "user", "content": "hello"})),
            user_json=b"{}",
            a_png=b"x",
        ),
        [LISBON, HELLO],
        {"unknown_shape": 1},
    ),
    "an archive with a file in UTF-16": (archive(a_json=ONE.decode().encode("utf-16")), [LISBON], {}),
    # encodings
    "a byte order mark on each line": ((BOM_UTF8 + lines(GOOD)) * 2, [LISBON] * 2, {}),
    "UTF-16": (ONE.decode().encode("utf-16"), [LISBON], {}),
    "UTF-16 without a mark": (ONE.decode().encode("utf-16-be"), [LISBON], {}),
    "gzip": (compress(ONE), [LISBON], {}),
    "gzip of an archive": (compress(archive(a_json=ONE)), [LISBON], {}),
    "lines that end in a carriage return": (ONE + b"\r" + ONE, [LISBON] * 2, {}),
    # damaged JSON
    "NaN": (ONE.replace(b'"role"', b'"timestamp": NaN, "role"'), [LISBON], {}),
    "a control character": (ONE.replace(b"moved", b"mov\ted"), [("user", "I mov\ted to Lisbon.")], {}),
    "a NUL": (ONE.replace(b"moved", b"mov\\u0000ed"), [("user", "I mov\0ed to Lisbon.")], {}),
    "a line of NUL": (ONE + b"\n\0\0\n" + ONE, [LISBON] * 2, {"unknown_shape": 1}),
    "lines that end in a comma": (lines(GOOD).replace(b"\n", b",\n") * 2, [LISBON] * 2, {}),
    "a line that ends in a comma": (lines(GOOD) + lines(GOOD).replace(b"\n", b",\n"), [LISBON] * 2, {}),
    "a list that ends in a comma": (b"[\n" + ONE + b",\n]", [LISBON], {}),
    "a list that is cut off": (b"[" + ONE + b",\n" + ONE[:40], [LISBON], {"unknown_shape": 1}),
    "a list with a damaged conversation": (
        b"[" + ONE + b"," + ONE[:40] + b"\n," + ONE + b"]",
        [LISBON] * 2,
        {"unknown_shape": 1},
    ),
    "an object around conversations that is cut off": (
        b'{"conversations": [' + ONE + b"," + ONE[:40],
        [LISBON],
        {"unknown_shape": 1},
    ),
    "a conversation that is cut off": (ONE[:-2] + b',{"role": "us', [LISBON], {"unknown_shape": 1}),
    "a line that is cut off": (lines(GOOD) + ONE[:-2] + b',{"role": "us', [LISBON] * 2, {"unknown_shape": 1}),
    "a first line that is damaged": (ONE[:40] + b"\n" + lines(GOOD), [LISBON], {"unknown_shape": 1}),
    "documents over several lines": (orjson.dumps(GOOD, option=orjson.OPT_INDENT_2) * 2, [LISBON] * 2, {}),
    "a JSON text sequence": ((b"\x1e" + lines(GOOD)) * 2, [LISBON] * 2, {}),
    "a script": (b"window.chats = [" + ONE + b"];", [LISBON], {}),
}


@each_row(("data", "turns", "left_out"), FORMS.values(), ids=FORMS)
def test_each_form_is_read_and_what_is_odd_is_left_out_by_reason(
    data: bytes, turns: list[tuple[str, str]], left_out: dict[str, int]
) -> None:
    assert read(data)[:2] == (turns, left_out)


MOMENT = 1_704_096_000_000_000
TIMES: list[tuple[Any, int | None, str | None]] = [
    (1_704_096_000, MOMENT, None),
    (1_704_096_000_000, MOMENT, None),
    (1_704_096_000_000_000, MOMENT, None),
    ("1704096000", MOMENT, None),
    ("2024-01-01T09:00:00+01:00", MOMENT, None),
    ("2024-01-01 08:00:00", MOMENT, "naive_time"),
    ("2024-01-01 08:00:00 UTC", MOMENT, None),
    ("20240101T080000Z", MOMENT, None),
    ("Mon, 01 Jan 2024 09:00:00 +0100", MOMENT, None),
    ("January 1, 2024 at 8:00:00 AM UTC", MOMENT, None),
    ("Jan 1, 2024, 8:00\u202fAM", MOMENT, "naive_time"),
    ("January 1, 2024 8:00am", MOMENT, "naive_time"),
    ({"$date": {"$numberLong": "1704096000000"}}, MOMENT, None),
    ({"$date": "2024-01-01T08:00:00Z"}, MOMENT, None),
    ({"seconds": 1_704_096_000, "nanoseconds": 0}, MOMENT, None),
    ("01/02/2024, 08:00", None, "bad_time"),
    ("Mon, 99 Jan 2024 09:00:00 GMT", None, "bad_time"),
    ({"$date": {"$date": {}}}, None, "bad_time"),
    (None, None, None),
    ("", None, None),
    (-1.0, None, "bad_time"),
    (True, None, "bad_time"),
    (float("nan"), None, "bad_time"),
    ("yesterday", None, "bad_time"),
    ("0001-01-01T00:00:00+14:00", None, "bad_time"),
    ({}, None, "bad_time"),
]


@each_row(("value", "moment", "note"), TIMES)
def test_times_are_read_in_any_unit_and_odd_ones_are_noted(value: Any, moment: int | None, note: str | None) -> None:
    assert time_of(value) == (moment, note)


def test_an_odd_time_is_that_of_a_message_without_one_and_counted() -> None:
    odd = [{"role": "user", "content": str(at), "timestamp": at} for at in (-1, "x", 9_000_000_000)]
    answer, events = chatted(file_of(openai(*odd)), since=SINCE)
    assert [one.occurred_at.minute for one in events if isinstance(one.data, TurnRecorded)] == [0, 1, 2]
    assert answer.adjusted["bad_time"] == 3


@each_row("whole", [True, False])
def test_characters_that_are_none_are_replaced_and_counted(whole: bool) -> None:
    message = b'{"messages": [{"role": "user", "content": "flag \\ud83d and \xff"}]}'
    turns, left_out, adjusted = read(b"[" + message + b"]" if whole else message + b"\n" + message)
    assert (turns[0][1], left_out, adjusted) == ("flag \ufffd and \ufffd", {}, {"characters": 2 if whole else 4})


def test_unreadable_ones_are_named_with_their_place_and_at_most_twenty() -> None:
    answer, _ = chatted(
        file_of({"title": "x"}, openai(*[{"role": "boss", "content": "x"}] * 30, id="c"), GOOD), since=SINCE
    )
    assert (answer.left_out["unknown_role"], len(answer.unreadable)) == (30, 20)
    first, second = answer.unreadable[:2]
    assert (first["conversation"], first["reason"]) == (1, "unknown_shape")
    assert (second["conversation"], second["id"], second["message"], second["reason"]) == (2, "c", 1, "unknown_role")
    assert "conversation 2 on line 2 (c), message 1: role: got 'boss'" in second["why"]


def test_a_repaired_export_adds_what_was_unreadable() -> None:
    log, good = new_log(), {"role": "user", "content": "one", "id": "1"}
    chatted(file_of(openai(good, {"role": "boss", "content": "x", "id": "2"}, id="c")), log, since=SINCE)
    answer, _ = chatted(file_of(openai(good, {"role": "user", "content": "x", "id": "2"}, id="c")), log, since=SINCE)
    assert (answer.imported.done.already_appended, answer.imported.done.appended) == (2, 2)


# --- bounds ---------------------------------------------------------------------------------------------------------


def deep(levels: int) -> bytes:
    return b'[{"messages": [{"role": "user", "content": "\\ud83d"}], "x": ' + b"[" * levels + b"]" * levels + b"}]"


BEYOND: dict[str, tuple[Callable[[], bytes], str]] = {
    "an archive of one very compressible file": (
        lambda: archive(a_json=b" " * 9_000_000 + lines(GOOD)),
        "an archive with",
    ),
    "an archive larger than allowed": (lambda: archive(a_json=lines(GOOD) * 40_000), "an archive with"),
    "an archive cut off": (lambda: archive(a_json=lines(GOOD))[:60], "an archive that cannot be read"),
    "an archive without chats": (lambda: archive(a_txt=b"x"), "an object without fields"),
    "a gzip file that is very compressible": (lambda: compress(b" " * 1_900_000 + ONE), "a gzip file of"),
    "a gzip file cut off": (lambda: compress(ONE)[:40], "a gzip file that cannot be read"),
    "gzip in gzip": (lambda: compress(compress(ONE)), "a gzip file in a gzip file"),
    "a list of Python": (lambda: repr([GOOD]).encode(), "[{'messages'"),
    "a table": (lambda: b"role,content\nuser,hello\n", "role,content"),
    "JSON nested too deep": (lambda: deep(1_100), "[{"),
    "JSON nested much too deep": (lambda: deep(100_000), "[{"),
}


@each_row(("made", "got"), BEYOND.values(), ids=BEYOND)
def test_what_is_beyond_the_bounds_is_refused_before_any_write(made: Callable[[], bytes], got: str) -> None:
    with pytest.raises(InputError, match="allowed: ") as refusal:
        open_chats(iter(made().splitlines(keepends=True)), largest=2_000_000)
    assert str(refusal.value.context["got"]).startswith(got)


def test_an_archive_of_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_MEMBERS", 1)
    with pytest.raises(InputError, match="at most 1 files"):
        open_chats(iter([archive(a_json=lines(CLAUDE), b_json=lines(CHATGPT))]))
