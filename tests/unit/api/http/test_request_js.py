"""What the page of routes works out in its script: requests, curl lines, the filter, how an answer is shown. Run by node."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

from tests.rows import each_row
from tests.servers import NO_NODE

NODE = shutil.which("node")
PATIENCE = 60
"""Seconds that node may take to start on a busy machine."""
TRIED = """
import { readFileSync } from "node:fs";
const [source, calls] = JSON.parse(readFileSync(0, "utf-8"));
const request = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
const told = calls.map(([name, ...given]) => {
  try {
    return { told: request[name](...given) };
  } catch (error) {
    return { refused: error.message };
  }
});
console.log(JSON.stringify(told));
"""
SEARCH = {"method": "GET", "path": "/v1/owners/{owner}/search"}
REMEMBER = {"method": "POST", "path": "/v1/owners/{owner}/memories"}
pytestmark = pytest.mark.skipif(NODE is None, reason=f"{NO_NODE}: the functions of request.js did not run")


def called(*calls: list[Any]) -> list[dict[str, Any]]:
    """What functions of the script answer, each {told} or {refused}; a call is its name and what it is given."""
    source = files("engramlog_server.api.http").joinpath("page", "request.js").read_text("utf-8")
    done = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", TRIED],
        input=json.dumps([source, calls]),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def read_by_bash(line: str) -> list[str]:
    """What curl would be given, the text of a file in angle brackets."""
    curl = r"""curl() {
      for one; do case $one in @*) printf '<%s>' "$(cat "${one#@}")";; *) printf %s "$one";; esac; printf '\0'; done
    }"""
    environment = {"ENGRAMLOG_TOKEN": "the token", "PATH": "/usr/bin:/bin"}
    command = ["bash", "--norc", "-c", f"{curl}\n{line}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return done.stdout.split("\0")[:-1]


def value(where: str, name: str, told: str | list[str]) -> dict[str, Any]:
    """A control of the page and what stands in it."""
    return {"in": where, "name": name, "value": told}


def asked(route: dict[str, str], *values: dict[str, Any], body: dict[str, str] | None = None) -> dict[str, Any]:
    """What `requestOf` answers."""
    (answer,) = called(["requestOf", route, list(values), body])
    return answer


def test_values_stand_percent_encoded_in_path_and_query_and_empty_ones_are_left_out() -> None:
    told = asked(
        SEARCH,
        value("path", "owner", "团队/α@x+1"),
        value("query", "q", "tea & 'milk'?"),
        value("query", "mode", ""),
        value("query", "kinds", ["lesson", "", "fact"]),
    )["told"]
    assert told == {
        "method": "GET",
        "url": "/v1/owners/%E5%9B%A2%E9%98%9F%2F%CE%B1%40x%2B1/search?q=tea%20%26%20%27milk%27%3F&kinds=lesson&kinds=fact",
        "headers": {},
    }


@each_row("owner", ["", ".", ".."])
def test_a_value_that_would_lead_to_another_path_is_refused(owner: str) -> None:
    assert asked(SEARCH, value("path", "owner", owner))["refused"].startswith("owner: got ")


def test_no_value_leads_off_the_service_or_into_another_part_of_the_path() -> None:
    hostile = ["//evil", "a/../b", "\\evil", "?x=1", "#x", "{memory_id}", "$&", "\r\nx: y", "%2e%2e", "\ud800"]
    two = {"method": "GET", "path": "/v1/{owner}/{memory_id}/why"}
    for owner in hostile:
        url = asked(two, value("path", "owner", owner), value("path", "memory_id", "m1"))["told"]["url"]
        assert (url.count("/"), url.endswith("/m1/why")) == (4, True)
        assert not set(url) & set("?#\\{}$\r\n")


def test_a_body_goes_with_its_type_and_a_post_without_one_says_whose_it_is() -> None:
    owner = value("path", "owner", "alice")
    with_body = asked(REMEMBER, owner, body={"text": '{"content":"tea"}', "kind": "application/json"})["told"]
    assert with_body["headers"] == {"content-type": "application/json"}
    assert with_body["body"] == '{"content":"tea"}'
    for without in (None, {"text": " \n", "kind": "application/json"}):
        told = asked(REMEMBER, owner, body=without)["told"]
        assert (told["headers"], "body" in told) == ({"engramlog-request": "1"}, False)
    assert asked(SEARCH, owner)["told"]["headers"] == {}


def test_a_header_takes_visible_characters_alone() -> None:
    feed = {"method": "GET", "path": "/v1/owners/{owner}/feed"}
    owner = value("path", "owner", "alice")
    assert asked(feed, owner, value("header", "last-event-id", "3:128"))["told"]["headers"] == {
        "last-event-id": "3:128"
    }
    for hostile in ("3:128\r\nx: y", "咖啡"):
        assert "last-event-id" in asked(feed, owner, value("header", "last-event-id", hostile))["refused"]


def test_a_curl_line_is_read_by_a_shell_as_it_was_meant_and_tells_no_token() -> None:
    body = '{"content": "it\'s $HOME `id` \\" \u202e 咖啡\n"}'
    request = {
        "method": "POST",
        "url": "/v1/owners/alice/memories",
        "headers": {"content-type": "application/json"},
        "body": body,
    }
    (answer,) = called(["curlOf", request, "http://127.0.0.1:8733", {}])
    assert read_by_bash(answer["told"]) == [
        "-sS",
        "-H",
        "<Authorization: Bearer the token>",
        "-H",
        "content-type: application/json",
        "--data-raw",
        body.replace("\u202e", "\\u202e"),
        "http://127.0.0.1:8733/v1/owners/alice/memories",
    ]


def test_a_curl_line_of_an_open_route_shows_no_token_and_that_of_a_stream_waits_for_nothing() -> None:
    health = {"method": "GET", "url": "/health", "headers": {}}
    feed = {"method": "GET", "url": "/v1/owners/alice/feed", "headers": {"last-event-id": "3:1"}}
    retry = {"method": "POST", "url": "/v1/dead/alice/retry", "headers": {"engramlog-request": "1"}}
    here = "http://[::1]:8733"
    open_one, stream, empty = called(
        ["curlOf", health, here, {"open": True}], ["curlOf", feed, here, {"stream": True}], ["curlOf", retry, here, {}]
    )
    token = ["-H", "<Authorization: Bearer the token>"]
    assert read_by_bash(open_one["told"]) == ["-sS", f"{here}/health"]
    assert read_by_bash(stream["told"]) == ["-sSN", *token, "-H", "last-event-id: 3:1", f"{here}/v1/owners/alice/feed"]
    posted = ["-H", "engramlog-request: 1", "-X", "POST", f"{here}/v1/dead/alice/retry"]
    assert read_by_bash(empty["told"]) == ["-sS", *token, *posted]


def test_what_hides_or_turns_text_around_is_shown_as_an_escape_and_other_text_as_it_is() -> None:
    hidden = "\x00 \x1b[31m \u202e \u2066 \u200b \ufeff \u2028 \U000e0041"
    told, kept = called(["shown", hidden, "text/plain"], ["shown", "a\n\tb 咖啡 é 👩\u200d💻", "text/markdown"])
    assert told["told"] == r"\u0000 \u001b[31m \u202e \u2066 \u200b \ufeff \u2028 \udb40\udc41"
    assert kept["told"] == "a\n\tb 咖啡 é 👩\u200d💻"
