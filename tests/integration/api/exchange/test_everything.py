"""An export of everything: what is in it, what is withheld, that it proves itself, and reads in again."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import orjson
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.fold.changelog import _DECISION, _FIELD, _TYPE
from tests.given.http import HttpStore, created, event
from tests.rows import each_row

ROOT = Path(__file__).parents[4]
LINES = {"content-type": "application/x-ndjson"}
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).isoformat()
SECRET = "my password is hunter2-Xq9!"


def turn(turn_id: str, text: str, role: str = "user", session: str = "s1", **fields: Any) -> dict[str, Any]:
    told = event("TurnRecorded", turn_id=turn_id, role=role, text=text, **fields)
    return told | {"session_id": session, "actor": "assistant" if role == "assistant" else "user"}


def exported(http: HttpStore, owner: str, **asked: Any) -> list[dict[str, Any]]:
    answer = http.client.get(f"/v1/owners/{owner}/export", params={"everything": "true"} | asked)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def of(lines: list[dict[str, Any]], part: str) -> list[dict[str, Any]]:
    return [line for line in lines if line.get("part") == part]


def a_life(http: HttpStore, owner: str) -> str:
    """Talk, a tool, memories that stand and that do not, a question asked and a block put into a prompt."""
    http.told(
        owner,
        turn("t1", "我喜欢乌龙茶"),
        turn("t2", "Noted.", "assistant"),
        event("ToolResultRecorded", tool="weather", text="rain in Suzhou", turn_id="t1"),
        created("tea", "我喜欢乌龙茶", source_turns=["t0"], at=YESTERDAY, category="stable_preference"),
        created("old", "I live in Hangzhou", at="2026-01-04T08:00:00Z"),
        created("gone", "I own a kayak"),
    )
    http.client.post(
        f"/v1/owners/{owner}/memories/old/negate", json={"correction": "I live in Suzhou", "reason": "搬家"}
    )
    http.client.post(f"/v1/owners/{owner}/memories/gone/delete", json={"reason": "sold it"})
    http.application.contexts.context(owner, "乌龙茶好喝吗", session="s1", turn_id="t1", trace=True)
    http.application.reader.search(owner, "Suzhou")
    http.application.settle()
    position = http.client.get(f"/v1/owners/{owner}/history", params={"order": "newest", "limit": 1}).json()["position"]
    return str(position)


def test_it_holds_memories_in_any_state_talk_tools_contexts_questions_and_changes(http: HttpStore) -> None:
    a_life(http, "whole")
    lines = exported(http, "whole")
    memories = {one["memory_id"]: one.get("status") for one in lines if "memory_id" in one}
    assert {"tea": None, "old": "superseded", "gone": "deleted"}.items() <= memories.items()
    assert [one["event"]["data"]["text"] for one in of(lines, "turn")] == ["我喜欢乌龙茶", "Noted."]
    assert [one["event"]["data"]["text"] for one in of(lines, "tool_result")] == ["rain in Suzhou"]
    assert "Suzhou" in str(of(lines, "question"))
    context = of(lines, "context")[0]["event"]["data"]
    assert context["turn_id"] == "t1"
    assert context["block"]["budget"] > 0, "how the block was made"
    assert not {"digest", "asked"} & context["block"].keys(), "what proves its words is told on no face"
    history = http.client.get("/v1/owners/whole/history", params={"limit": 1_000}).json()
    told = [
        {name: value for name, value in one.items() if name not in ("engramlog", "part")} for one in of(lines, "change")
    ]
    assert told == history["changes"]
    assert any(one["said_reason"] == "搬家" for one in told)


def test_its_end_counts_the_lines_and_sums_them_up(http: HttpStore) -> None:
    a_life(http, "summed")
    body = http.client.get("/v1/owners/summed/export", params={"everything": "true"}).content
    *before, end = body.splitlines(keepends=True)
    told = json.loads(end)
    assert told["sha256"] == sha256(b"".join(before)).hexdigest()
    parts = Counter(line.get("part", "memory") for line in map(json.loads, before))
    assert told["counts"] == parts


def test_a_stranger_checks_it_with_the_standard_library(http: HttpStore, tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "docs" / "examples" / "check_export.py"))
    assert (script["TYPES"], script["DECISIONS"], script["FIELDS"]) == (list(_TYPE), list(_DECISION), list(_FIELD))
    a_life(http, "chained")
    lines = exported(http, "chained")
    place = lines[0]["partition_chain"]
    partition, seq = map(int, place["position"].split(":"))
    file, heads = tmp_path / "all.jsonl", tmp_path / "heads.jsonl"

    def verdicts(changed: list[dict[str, Any]], head: str) -> list[str]:
        raw = b"".join(orjson.dumps(line) + b"\n" for line in changed[:-1])
        end = changed[-1] | {"sha256": sha256(raw).hexdigest()}
        file.write_bytes(raw + orjson.dumps(end) + b"\n")
        heads.write_text(json.dumps({"heads": [[partition, seq, head]]}) + "\n")
        return [told.partition(":")[0] for told in script["check"](file, heads)]

    assert verdicts(lines, place["chain"]) == ["agrees"] * 3
    altered = [line | {"decision": "ignored"} if line.get("part") == "change" else line for line in lines]
    assert verdicts(altered, "00" * 32) == ["agrees", "differs", "differs"]
    assert verdicts(lines[:3] + lines[4:], place["chain"])[0] == "differs"
    assert verdicts(lines[:-1], place["chain"]) == ["differs"]


@given(st.integers(-(2**63), 2**63 - 1) | st.text() | st.binary() | st.lists(st.integers(0, 300), max_size=40))
def test_its_message_pack_is_the_usual_one(value: object) -> None:
    packed = runpy.run_path(str(ROOT / "docs" / "examples" / "check_export.py"))["packed"]
    assert packed(value) == msgspec.msgpack.encode(value)


def test_words_that_may_not_be_told_are_withheld_with_the_reason(http: HttpStore) -> None:
    http.told(
        "hidden",
        turn("t1", SECRET),
        turn("t2", "I own a kayak"),
        turn("t3", "I paint", session="poisoned"),
        created("kayak", "I own a kayak", source_turns=["t2"]),
        created("code", SECRET),
    )
    http.client.post("/v1/owners/hidden/memories/kayak/delete", json={})
    http.client.post("/v1/owners/hidden/set-aside", json={"session": "poisoned", "reason": "not them"})
    http.application.reader.search("hidden", f"what is it: {SECRET}", trace=True, inspect=True)
    http.application.settle()
    lines = exported(http, "hidden")
    reasons = {one["event"]["data"]["turn_id"]: one.get("withheld") for one in of(lines, "turn")}
    assert reasons == {"t1": "secret", "t2": "retracted", "t3": "set_aside"}
    marks = [f"[withheld: {reason}]" for reason in reasons.values()]
    assert [one["event"]["data"]["text"] for one in of(lines, "turn")] == marks
    told = orjson.dumps(lines).decode()
    assert "hunter2" not in told
    assert lines[0]["left_out"] == {"rejections": 1, "sensitive": 1}


def test_a_question_is_told_only_while_all_that_it_showed_may_be(http: HttpStore) -> None:
    http.told("asked", created("door", "The blue door behind the mill"), created("boat", "I own a kayak"))
    for question in ("which blue door", "whose kayak"):
        http.application.reader.search("asked", question)
        http.application.accesses.flush()
    assert "which blue door" in str(exported(http, "asked"))
    http.client.post("/v1/owners/asked/memories/door/sensitivity", json={"level": 3, "reason": "hers"})
    http.client.post("/v1/owners/asked/memories/boat/delete", json={})
    lines = exported(http, "asked")
    assert {one["withheld"] for one in of(lines, "question")} == {"secret", "deleted"}
    told = str([one for one in lines if "memory_id" not in one])
    assert "which blue door" not in told
    assert "whose kayak" not in told


def test_what_a_tool_answered_in_a_turn_of_a_source_set_aside_is_withheld_whatever_withholds_the_turn(
    http: HttpStore,
) -> None:
    result = event("ToolResultRecorded", tool="bank", text="the balance is nine", turn_id="t1")
    http.told("tooled", turn("t1", SECRET, session="poisoned"), result)
    http.client.post("/v1/owners/tooled/set-aside", json={"session": "poisoned", "reason": "not them"})
    lines = exported(http, "tooled")
    assert [one["withheld"] for one in [*of(lines, "turn"), *of(lines, "tool_result")]] == ["secret", "set_aside"]
    assert "nine" not in str(lines)


def test_secrets_are_in_it_only_where_that_is_recorded(http: HttpStore) -> None:
    http.told("revealed", created("code", SECRET))
    answer = http.client.post(
        "/v1/owners/revealed/export", json={"everything": True, "reveal": True, "reason": "asked"}
    )
    assert "hunter2" in answer.text
    assert answer.headers["engramlog-revealed"]


def test_it_reads_in_again_for_another_owner_once(http: HttpStore) -> None:
    a_life(http, "from")
    body = http.client.get("/v1/owners/from/export", params={"everything": "true"}).content
    first = http.client.post("/v1/owners/to/import/records", content=body, headers=LINES).json()
    again = http.client.post("/v1/owners/to/import/records", content=body, headers=LINES).json()
    assert (first["said"], first["skipped"]) == (3, {"deleted": 1, "superseded": 1})
    assert first["of_the_log"]["change"] == len(of(exported(http, "from"), "change"))
    assert (again["appended"], again["already_appended"]) == (0, first["appended"])
    there = exported(http, "to")
    texts = [one["event"]["data"]["text"] for one in [*of(there, "turn"), *of(there, "tool_result")]]
    assert texts == ["我喜欢乌龙茶", "Noted.", "rain in Suzhou"]
    assert {one["memory_id"] for one in there if "memory_id" in one} >= {"tea"}


def test_taken_in_where_it_comes_from_it_says_nothing_twice(http: HttpStore) -> None:
    a_life(http, "same")
    before = exported(http, "same")
    body = http.client.get("/v1/owners/same/export", params={"everything": "true"}).content
    http.client.post("/v1/owners/same/import/records", content=body, headers=LINES)
    after = exported(http, "same")
    assert of(after, "turn") == of(before, "turn")
    assert of(after, "tool_result") == of(before, "tool_result")
    assert [one["memory_id"] for one in after if "memory_id" in one] == [
        one["memory_id"] for one in before if "memory_id" in one
    ]


def test_a_file_that_was_cut_is_refused_and_nothing_of_it_is_written(http: HttpStore) -> None:
    a_life(http, "cut-from")
    body = http.client.get("/v1/owners/cut-from/export", params={"everything": "true"}).content
    cut = b"".join(body.splitlines(keepends=True)[:-1])
    answer = http.client.post("/v1/owners/cut-to/import/records", content=cut, headers=LINES)
    assert answer.status_code == 422
    assert "it is cut" in answer.text
    assert http.client.get("/v1/owners/cut-to/memories").json()["total"] == 0


def test_an_altered_line_is_refused_and_nothing_of_it_is_written(http: HttpStore) -> None:
    a_life(http, "altered-from")
    body = http.client.get("/v1/owners/altered-from/export", params={"everything": "true"}).content
    harmed = body.replace("我喜欢乌龙茶".encode(), "我喜欢咖啡".encode(), 1)
    assert harmed != body
    answer = http.client.post("/v1/owners/altered-to/import/records", content=harmed, headers=LINES)
    assert (answer.status_code, answer.json()["field"]) == (422, "sha256")
    assert http.client.get("/v1/owners/altered-to/memories").json()["total"] == 0


def test_as_a_list_that_was_written_anew_it_is_taken_in(http: HttpStore) -> None:
    a_life(http, "list-from")
    answer = http.client.post("/v1/owners/list-to/import/records", json=exported(http, "list-from"))
    assert (answer.status_code, answer.json()["said"]) == (200, 3)


@each_row(
    ("line", "field"),
    [
        ({"engramlog": 1, "part": "dream"}, "part"),
        ({"engramlog": 1, "part": ["turn"]}, "part"),
        ({"engramlog": 2, "part": "turn", "event": {}}, "engramlog"),
        ({"engramlog": 1, "part": "turn"}, "event"),
        ({"engramlog": 1, "part": "turn", "event": {"type": "MemoryPurged", "data": {}}}, "event.type"),
        (
            {"engramlog": 1, "part": "turn", "event": {"type": "TurnRecorded", "data": {"turn_id": "t"}}},
            "event.occurred_at",
        ),
    ],
)
def test_a_line_that_is_no_part_is_refused_by_its_field(http: HttpStore, line: dict[str, Any], field: str) -> None:
    body = orjson.dumps(line)
    answer = http.client.post("/v1/owners/bad/import/records", content=body, headers=LINES)
    assert answer.status_code == 422
    assert field in answer.text


def test_of_a_moment_it_holds_what_was_there_then(http: HttpStore) -> None:
    http.told("then", turn("t1", "one"), created("a", "I like tea"))
    then = http.client.get("/v1/owners/then/memories").json()["position"]
    whole = exported(http, "then")
    http.told("then", turn("t2", "two"), created("b", "I like coffee"))
    lines = exported(http, "then", known=then)
    for part in ("turn", "change"):
        assert of(lines, part) == of(whole, part)
    assert [one["memory_id"] for one in lines if "memory_id" in one] == ["a"]
    assert len(of(exported(http, "then"), "turn")) == 2


@each_row("asked", [{"format": "text", "everything": "true"}, {"format": "html"}])
def test_what_cannot_be_asked_together_is_refused_by_its_name(http: HttpStore, asked: dict[str, str]) -> None:
    answer = http.client.get("/v1/owners/nobody/export", params=asked)
    assert answer.status_code == 422
    assert "format" in answer.text


def test_of_nobody_it_is_a_head_and_an_end(http: HttpStore) -> None:
    lines = exported(http, "nobody")
    assert [one["part"] for one in lines] == ["everything", "end"]
