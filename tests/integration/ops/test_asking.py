"""A command beside a running service: who answers it, that both ways say the same, and what is left to the command."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.routes.commands import SERVED
from engramlog_server.api.http.serve import Server, serve_on
from engramlog_server.api.work import LIGHT_STEPS, Patience, current_check, weigh
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import StoreUnavailable, TooManyRequests
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops import running_service
from engramlog_server.ops.listeners import FolderSocket
from engramlog_server.ops.main import main
from engramlog_server.ops.running_service import ADDRESS, answers_for, ask_service
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.token import TokenFile
from engramlog_server.ops.wiring import application_on
from tests.patience import PATIENCE
from tests.rows import each_row

AT = ("--at", "2026-03-01T00:00:00Z")
UNSEEN = ("--no-trace",)
URI = "https://example.com/page"
_begun = Patience.begin
COMMANDS: dict[str, tuple[str, ...]] = {
    "GET /v1/owners/{owner}/search": ("search", "alice", "coffee", *AT, *UNSEEN),
    "GET /v1/owners/{owner}/memories": ("list", "alice", *AT),
    "GET /v1/owners/{owner}/memories/{memory_id}": ("get", "alice", "m1", *AT, *UNSEEN),
    "GET /v1/owners/{owner}/memories/{memory_id}/why": ("why", "alice", "m1", *AT),
    "GET /v1/owners/{owner}/memories/{memory_id}/history": ("history", "alice", "m1"),
    "GET /v1/owners/{owner}/memories/{memory_id}/provenance": ("why", "alice", "m1", "--provenance"),
    "GET /v1/owners/{owner}/stats": ("stats", "alice", *AT),
    "GET /v1/owners/{owner}/counts": ("list", "alice", "--counts", "--mode", "debug", "--level", "full", *AT),
    "GET /v1/owners/{owner}/assess": ("assess", "alice", "coffee", *AT),
    "GET /v1/owners/{owner}/memories/{memory_id}/associations": ("associations", "alice", "m1", *AT),
    "GET /v1/owners/{owner}/memories/{memory_id}/uses": ("why", "alice", "m1", "--uses"),
    "GET /v1/owners/{owner}/memories/{memory_id}/compare": (
        "compare",
        "alice",
        "m1",
        "--since",
        "2026-01-05",
        "--until",
        "2026-03-01",
    ),
    "GET /v1/owners/{owner}/compare": ("compare", "alice", *AT),
    "GET /v1/owners/{owner}/map": ("map", "alice", *AT),
    "GET /v1/owners/{owner}/diff": ("diff", "alice", "--since", "2026-01-05"),
    "GET /v1/owners/{owner}/answers": ("answers", "alice"),
    "GET /v1/owners/{owner}/answers/{turn_id}": ("answers", "alice", "none"),
    "GET /v1/owners/{owner}/sources": ("events", "alice", "--sources"),
    "GET /v1/owners/{owner}/events": ("events", "alice"),
    "GET /v1/owners/{owner}/facts": ("facts", "alice"),
    "GET /v1/owners/{owner}/times": ("events", "alice", "--times"),
    "GET /v1/owners/{owner}/synonyms": ("synonyms", "alice"),
    "GET /v1/owners/{owner}/health": ("health", "alice", *AT),
    "GET /v1/owners/{owner}/fading": ("fading", "alice", *AT),
    "GET /v1/owners/{owner}/review": ("review", "alice", *AT),
    "GET /v1/owners/{owner}/profile": ("profile", "alice"),
    "GET /v1/owners/{owner}/inbox": ("inbox", "alice"),
    "POST /v1/owners/{owner}/context": ("context", "alice", "coffee", *UNSEEN),
    "GET /v1/owners/{owner}/set-aside": ("set-aside", "alice"),
    "GET /v1/dead/{owner}": ("dead", "alice"),
    "GET /v1/dead": ("dead",),
    "GET /v1/alarms": ("alarms",),
    "GET /v1/models": ("status", "--models"),
    "GET /v1/access": ("access",),
}
"""Every command that only asks and has a running service answer, by the route of its operation."""
NO_COMMAND = {
    "GET /v1/owners/{owner}/history",
    "GET /v1/owners/{owner}/heads",
    "GET /v1/me",
}
"""`history` without an id asks by the path of one memory, and tells the owner's head."""
MOVING = {
    "GET /v1/status": ("status",),
    "GET /v1/jobs": ("status", "--jobs"),
    "GET /v1/capacity": ("status", "--capacity"),
}
"""Their figures differ from one moment to the next."""
TELLING: dict[str, tuple[str, ...]] = {
    "POST /v1/owners/{owner}/memories": ("add", "OWNER", "I live in Porto", "--tag", "place"),
    "POST /v1/owners/{owner}/memories/{memory_id}/edit": ("edit", "OWNER", "coffee", "I drink coffee at eight"),
    "POST /v1/owners/{owner}/memories/{memory_id}/mention": ("mention", "OWNER", "coffee"),
    "POST /v1/owners/{owner}/grounds": ("set-aside", "OWNER", "--ground", URI, "--digest", "sha256:" + "b" * 64),
    "POST /v1/owners/{owner}/memories/{memory_id}/negate": ("negate", "OWNER", "coffee", "--correction", "I drink tea"),
    "POST /v1/owners/{owner}/memories/{memory_id}/confirm": (
        "mention",
        "OWNER",
        "coffee",
        "--confirm",
        "--actor",
        "operator",
    ),
    "POST /v1/owners/{owner}/memories/{memory_id}/sensitivity": (
        "edit",
        "OWNER",
        "coffee",
        "--sensitivity",
        "2",
        "--reason",
        "so",
    ),
    "POST /v1/owners/{owner}/memories/{memory_id}/restore": ("delete", "OWNER", "gone", "--undo"),
    "POST /v1/owners/{owner}/memories/{memory_id}/unmerge": ("unmerge", "OWNER", "both"),
    "POST /v1/owners/{owner}/merge": ("merge", "OWNER", "coffee", "cat", "--into", "two"),
    "POST /v1/owners/{owner}/synonyms": ("synonyms", "OWNER", "coffee", "java"),
    "POST /v1/owners/{owner}/memories/{memory_id}/reinforce": ("reinforce", "OWNER", "coffee"),
    "POST /v1/owners/{owner}/memories/{memory_id}/grade": ("review", "OWNER", "coffee", "--grade", "4"),
    "POST /v1/owners/{owner}/profile": ("profile", "OWNER", "ebbinghaus"),
    "POST /v1/owners/{owner}/inbox/accept": ("inbox", "OWNER", "ITEM", "--accept"),
    "POST /v1/owners/{owner}/inbox/edit": ("inbox", "OWNER", "ITEM", "I drink tea"),
    "POST /v1/owners/{owner}/inbox/reject": ("inbox", "OWNER", "ITEM", "--reject"),
}
"""Every command that tells something and has a running service carry it out."""
OTHERS = {
    "past": ("list", "alice", "--as-of", "2026-01-05"),
    "known": ("get", "alice", "m1", "--known", "2030-01-01", *UNSEEN, *AT),
    "whole history": ("history", "alice"),
    "a page of a history": ("history", "alice", "--limit", "1"),
    "nothing found": ("search", "nobody", "tea", *UNSEEN, *AT),
    "chinese": ("search", "alice", "咖啡", "--explain", *UNSEEN, *AT),
    "after": ("list", "alice", "--after", "0:999999", *AT),
    "unknown memory": ("get", "alice", "none"),
    "bad mode": ("list", "alice", "--mode", "all"),
    "bad limit": ("search", "alice", "coffee", "-k", "5000"),
    "bad instant": ("why", "alice", "m1", "--as-of", "yesterday"),
    "a secret in a refusal": ("list", "alice", "--mode", "password: hunter2-Xy9!"),
    "a query that is a secret": ("search", "alice", "my password is hunter2-Xy9!", *UNSEEN, *AT),
}
"""The same at its edges: what is refused is refused in the same words, with the same exit code."""
CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?")


class Beside:
    """A service on a data folder, and commands beside it."""

    def __init__(self, folder: Path, application: Any, server: Server, calls: list[str]) -> None:
        self.folder = folder
        self.application = application
        self.server = server
        self.calls = calls
        """The routes that the service was asked for, in order."""

    def log(self, owner: str) -> list[tuple[str, str, str | None]]:
        """Type, actor and principal of each event of the owner."""
        log = self.application.log
        stored = log.read(partition_of(owner, log.partitions), 0, 10_000)
        return [(one.kind, decode(one.kind, one.body).actor, one.principal) for one in stored if one.owner == owner]

    def accesses(self, owner: str) -> list[tuple[Any, ...]]:
        """What was recorded of looks: by which way, which principal, what was shown, in which mode, for which query."""
        log = self.application.log
        stored = log.read(partition_of(owner, log.partitions), 0, 10_000)
        told = [(decode(one.kind, one.body), one.principal) for one in stored if one.owner == owner]
        return [
            (event.data.via, event.actor, principal, *((one.shown, one.mode, one.query) if one else ()))
            for event, principal in told
            if event.type == "MemoriesAccessed"
            for one in event.data.accesses or (None,)  # a block whose lines are all in its stable part has none
        ]


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    folder, stop = tmp_path_factory.mktemp("asking") / "store", Flag()
    settings = Settings(data=folder, partitions=2)
    calls: list[str] = []
    same = answers_for(settings)

    def noted(asked: Any) -> bool:
        calls.append(" ".join(asked["route"]))
        return same(asked)

    with open_the_store(settings, "up") as store, application_on(store, settings) as application:
        worker = FoldWorker(store.client, store.identity.tags, "lasting")
        thread = Thread(target=worker.run, args=(stop,))
        thread.start()
        for number, text in enumerate(("I drink coffee every morning", "我每天早上喝咖啡", "My cat is called Miso"), 1):
            application.rememberer.add("alice", text, memory_id=f"m{number}", occurred_at="2026-01-05T08:00:00Z")
        application.writer.mention("alice", "m1", occurred_at="2026-01-06T08:00:00Z")
        app = create_app(application, admits=TokenFile(store.embedded.folder), answers_for=noted)
        claimed = FolderSocket.claim(store.embedded.folder)
        assert claimed is not None
        with closing(claimed):
            server = serve_on(app, claimed.listener)
            try:
                yield Beside(folder, application, server, calls)
            finally:
                server.stop()
        stop.set()
        thread.join()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, beside: Beside) -> None:
    for name in [name for name in os.environ if name.upper().startswith("ENGRAMLOG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(beside.folder))
    monkeypatch.setenv("ENGRAMLOG_EMBEDDER", "none")  # both as the service was started with
    monkeypatch.setenv("ENGRAMLOG_EXTRACTION", "off")
    monkeypatch.setattr(running_service, "HEARD_SECONDS", PATIENCE)
    monkeypatch.setattr(running_service.exchanged, "__kwdefaults__", {"heard": PATIENCE, "answer": PATIENCE})
    monkeypatch.setattr("engramlog_server.ops.running_service.STORE_SECONDS", PATIENCE)
    monkeypatch.setattr("engramlog_server.api.http.routes.commands.MOMENT_SECONDS", PATIENCE)
    beside.calls.clear()


class Opened(AssertionError):
    """A command opened the store."""


def opens_nothing() -> Any:
    raise Opened


@pytest.fixture
def by_service(capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, bytes, bytes]]:
    """A command that may open no store."""

    def ran(*words: str) -> tuple[int, bytes, bytes]:
        code = run(opens_nothing, words, ask=ask_service)
        return code, *capsysbinary.readouterr()

    return ran


@pytest.fixture
def by_itself(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, bytes, bytes]]:
    """A command that asks nobody."""

    def ran(*words: str) -> tuple[int, bytes, bytes]:
        with monkeypatch.context() as here:
            here.setattr("engramlog_server.ops.running_service.ask_service", lambda _route, _given: None)
            code = main(words)
        return code, *capsysbinary.readouterr()

    return ran


Ran = Callable[..., tuple[int, bytes, bytes]]


def test_every_call_of_a_moment_has_a_command_here() -> None:
    asked = {" ".join(one.route) for one in SERVED.values() if one.asks}
    assert asked == COMMANDS.keys() | MOVING.keys() | NO_COMMAND
    assert {" ".join(one) for one in SERVED} - asked == TELLING.keys()


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
@pytest.mark.parametrize("words", [*COMMANDS.values(), *OTHERS.values()], ids=[*COMMANDS, *OTHERS])
def test_both_ways_say_the_same(
    beside: Beside, by_service: Ran, by_itself: Ran, words: tuple[str, ...], as_json: bool
) -> None:
    words = (*words, "--json") if as_json else words
    asked, alone = by_service(*words), by_itself(*words)
    assert beside.calls, "the service was not asked"
    assert unclocked(asked) == unclocked(alone)


def test_the_state_of_the_store_has_the_same_parts_both_ways(beside: Beside, by_service: Ran, by_itself: Ran) -> None:
    for words in MOVING.values():
        (code, asked, _), (alone_code, alone, _) = by_service(*words, "--json"), by_itself(*words, "--json")
        assert (code, json.loads(asked).keys()) == (alone_code, json.loads(alone).keys())
    assert len(beside.calls) == len(MOVING)


def test_a_service_that_hangs_leaves_the_state_of_the_store_to_the_command(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.ops.running_service.STORE_SECONDS", 0.05)
    free = Flag()
    monkeypatch.setattr(beside.application.operator, "status", lambda: free.wait(PATIENCE))
    try:
        with pytest.raises(Opened):
            by_service("status")
    finally:
        free.set()


def given(beside: Beside, owner: str) -> None:
    """An owner of some memories, one deleted, of a merge, and of what waits for a person."""
    say = beside.application.rememberer.add
    say(
        owner,
        "I drink coffee every morning",
        memory_id="coffee",
        grounds=[{"uri": URI, "digest": "sha256:" + "a" * 64}],
    )
    say(owner, "My cat is called Miso", memory_id="cat")
    for number, text in enumerate(("I like hills", "I like long hills")):
        say(owner, text, memory_id=f"hills-{number}")
    beside.application.writer.merge(owner, ["hills-0", "hills-1"], into="both")
    say(owner, "gone", memory_id="gone")
    beside.application.deleter.delete_many(owner, ["gone"])
    beside.application.writer.negate(owner, "cat", correction="The cat is Bo", actor="assistant")


MADE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[01]:\d+\b|\b[0-9a-f]{16,64}\b|\b\d+\.\d+(e-\d+)?\b"
)
"""Ids, positions, hashes, and weights that an instant makes."""
SPACE = re.compile("[ ─]+")
"""As wide as what stands in a column."""


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
@pytest.mark.parametrize("words", TELLING.values(), ids=TELLING)
def test_both_ways_tell_the_same_as_the_same_speaker(
    beside: Beside, by_service: Ran, by_itself: Ran, words: tuple[str, ...], as_json: bool
) -> None:
    """Of two owners alike, but for ids and instants: in what is printed, and in the log."""
    told, logged = [], []
    name = "".join(word.strip("-") for word in words if word.islower() or word.startswith("--")).replace(" ", "")
    for owner, way in ((f"w{name}{as_json:d}x", by_service), (f"w{name}{as_json:d}y", by_itself)):
        given(beside, owner)
        before = len(beside.log(owner))
        item = beside.application.inbox.page(owner)["items"][0]["item"]
        said = [{"OWNER": owner, "ITEM": item}.get(word, word) for word in words]
        code, out, err = unclocked(way(*said, *["--json"] * as_json))
        told.append((code, *(SPACE.sub(" ", MADE.sub("x", one).replace(owner, "OWNER")) for one in (out, err))))
        logged.append(beside.log(owner)[before:])
    assert beside.calls, "the service was not asked"
    assert told[0] == told[1]
    assert logged[0] == logged[1]
    assert logged[0]


def test_a_call_under_its_key_is_one_by_whichever_way_it_is_made_again(
    beside: Beside, by_service: Ran, by_itself: Ran
) -> None:
    given(beside, "keyed")
    words = ("negate", "keyed", "coffee", "--correction", "I drink tea", "--key", "k", "--json")
    first, before = by_service(*words), len(beside.log("keyed"))
    assert (by_itself(*words), by_service(*words)) == (first, first)
    assert len(beside.log("keyed")) == before


def test_what_is_long_to_tell_is_told_among_the_heavy_ones_once_and_without_a_deadline(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(beside, "long")
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", -1)
    monkeypatch.setattr(Patience, "begin", lambda self, _seconds: _begun(self, 0.0))
    before = len(beside.log("long"))
    assert by_service("negate", "long", "coffee", "--key", "k")[0] == 0
    assert by_service("negate", "long", "coffee", "--key", "k")[0] == 0, "which reads the log back, and is weighed"
    assert len(beside.log("long")) == before + 1


def test_what_was_told_is_told_once_also_where_the_answer_turns_out_to_be_long(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view that was there before went meanwhile, and loading it again is weighed."""
    given(beside, "gone")
    settle, steps = beside.application.writer.settle_positions, [0]

    def settled(until: Mapping[int, int]) -> None:
        settle(until)
        steps[0] = LIGHT_STEPS + 1
        beside.application.views._kept.let_go("gone")

    monkeypatch.setattr("engramlog_server.api.snapshots.weigh_load", lambda _: weigh(steps[0]))
    monkeypatch.setattr(beside.application.writer, "settle_positions", settled)
    before = len(beside.log("gone"))
    assert by_service("mention", "gone", "coffee")[0] == 0
    assert steps[0], "it was told, and loaded anew"
    assert len(beside.log("gone")) == before + 1


def test_what_failed_in_the_middle_of_telling_is_not_said_again_by_the_command(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks_off(*_args: object, **_given: object) -> None:
        raise StoreUnavailable("no connection; whether it was written is not known")

    monkeypatch.setattr(beside.application.writer, "mention", breaks_off)
    code, _, err = by_service("mention", "alice", "m1")
    assert (code, b"whether it was written is not known" in err) == (1, True)


def unclocked(told: tuple[int, bytes, bytes]) -> tuple[int, str, str]:
    """What a command printed, but for instants of now: those of the data are of January."""
    code, *printed = told
    out, err = (CLOCK.sub(lambda found: found[0] if found[0] < "2026-04" else "now", one.decode()) for one in printed)
    return code, out, err


@pytest.mark.parametrize(
    "words",
    [
        ("search", "alice", "coffee"),
        ("search", "alice", "coffee", "--trace"),
        ("get", "alice", "m1"),
        ("get", "alice", "m1", "--trace"),
        ("context", "alice", "TEXT", "--trace"),
    ],
    ids=" ".join,
)
def test_both_ways_record_the_same_and_it_is_folded_when_the_command_ends(
    beside: Beside, by_service: Ran, by_itself: Ran, words: tuple[str, ...]
) -> None:
    told = []
    for way, text in ((by_service, "coffee"), (by_itself, "my coffee")):  # one text again records nothing new
        before = len(beside.accesses("alice"))
        assert way(*(text if word == "TEXT" else word for word in words))[0] == 0
        told.append(beside.accesses("alice")[before:])
    assert told[0] == told[1] != []
    assert beside.calls


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENGRAMLOG_PRINCIPAL", "somebody"),
        ("ENGRAMLOG_EMBEDDER", "openai:m"),
        ("ENGRAMLOG_REDIS_URL", "redis://localhost:1/0"),
        ("ENGRAMLOG_HIGHEST_TRUST", "inferred"),
        ("ENGRAMLOG_PORT", "many"),
        ("ENGRAMLOG_DTA", "x"),
        ("ENGRAMLOG_TOKEN", "another-token-0123456789-0123456789"),
    ],
)
def test_a_command_of_other_settings_asks_by_itself(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """A setting that is wrong is then refused there, in the words of any command."""
    monkeypatch.setenv(name, value)
    with pytest.raises(Opened):
        by_service("list", "alice")


@pytest.mark.parametrize(
    ("name", "value"), [("ENGRAMLOG_PORT", "1"), ("ENGRAMLOG_LOG_LEVEL", "debug"), ("ENGRAMLOG_MODEL", "")]
)
def test_settings_that_change_no_answer_keep_nobody_from_being_answered(
    by_service: Ran, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert by_service("list", "alice")[0] == 0


def test_a_service_of_other_code_is_asked_for_nothing(by_service: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.ops.running_service.code_here", lambda: "/elsewhere@1")
    with pytest.raises(Opened):
        by_service("list", "alice")


@pytest.mark.parametrize(
    "words",
    [
        ("stats",),
        ("replay", "alice"),
        ("status", "--owners"),
        ("delete", "alice", "m1"),
        ("edit", "alice", "m1", "--tier", "core"),
    ],
)
def test_what_tells_and_what_is_long_is_the_command_s_own(
    beside: Beside, by_service: Ran, words: tuple[str, ...]
) -> None:
    with pytest.raises(Opened):
        by_service(*words)
    assert beside.calls == []


def test_a_long_past_is_left_to_the_command_which_shows_how_far_it_is(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside.application.rememberer.add("of-old", "I drink tea", occurred_at="2026-01-05T08:00:00Z")
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", 0)
    with pytest.raises(Opened):
        by_service("list", "of-old", "--as-of", "2026-01-05")
    assert beside.calls


def test_a_heavy_question_that_takes_more_than_a_moment_is_left_to_the_command(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.api.http.routes.commands.MOMENT_SECONDS", 0.0)
    monkeypatch.setattr(beside.application.knower, "map", lambda *_args, **_given: current_check()(1, 2))
    with pytest.raises(Opened):
        by_service("map", "alice")
    assert beside.calls


def test_a_fault_of_the_command_does_not_look_like_no_service() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        ask_service(("GET", "/v1/owners/{owner}/memories"), {"owner": "alice", "limit": object()})


@pytest.mark.parametrize("mode", ["the folder", "the socket", "the token"])
def test_nobody_is_asked_where_others_could_have_put_what_lies_there(
    beside: Beside, by_service: Ran, mode: str
) -> None:
    path = {
        "the folder": beside.folder,
        "the socket": beside.folder / "api.sock",
        "the token": beside.folder / "token",
    }[mode]
    before = path.stat().st_mode
    path.chmod(before | 0o022)
    try:
        with pytest.raises(Opened):
            by_service("list", "alice")
    finally:
        path.chmod(before)
    assert beside.calls == []


def test_the_door_of_commands_is_shut_to_who_comes_over_the_network(beside: Beside) -> None:
    from engramlog_server.api.http.serve import serve

    app = create_app(beside.application, admits=lambda _shown: True, answers_for=lambda _asked: True)
    server = serve(app, "127.0.0.1", 0)
    try:
        body = json.dumps({"code": "", "settings": {}, "place": [], "route": ["GET", "x"], "given": {}}).encode()
        with socket.create_connection((server.host, server.port), PATIENCE) as line:
            line.sendall(
                f"POST {ADDRESS} HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nauthorization: Bearer x\r\nconnection: close\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
                + body
            )
            told = b"".join(iter(lambda: line.recv(65_536), b""))
    finally:
        server.stop()
    assert told.startswith(b"HTTP/1.1 404 ")
    assert running_service.MARK.encode() not in told


@each_row("header", ["X-Forwarded-For: 203.0.113.9", "Via: 1.1 proxy", "Forwarded: for=203.0.113.9"])
def test_what_a_proxy_passes_on_is_no_command(beside: Beside, header: str) -> None:
    token = (beside.folder / "token").read_text().strip()
    asked = {"code": "", "settings": {}, "place": [], "route": ["GET", "x"], "given": {"owner": "alice"}}
    body = json.dumps(asked).encode()
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(PATIENCE)
        line.connect(str(beside.folder / "api.sock"))
        line.sendall(
            f"POST {ADDRESS} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n{header}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        told = b"".join(iter(lambda: line.recv(65_536), b""))
    assert told.startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(
    "asked",
    [
        {"route": ["GET", "/v1/owners/{owner}/export"]},
        {"route": ["POST", "/v1/owners/{owner}/memories/{memory_id}/reveal"]},
        {"route": ["POST", "/v1/owners/{owner}/memories/delete"]},
        {"given": {"owner": "alice", "on_progress": 1}},
        {"given": {"owner": 7}},
        {"given": []},
        {"route": ["x"]},
        {"route": [["x"], {}]},
        {"route": "x"},
    ],
    ids=str,
)
def test_what_is_no_call_of_a_command_is_left_to_whoever_sent_it(beside: Beside, asked: dict[str, Any]) -> None:
    whole = {
        "code": "",
        "settings": {},
        "place": [],
        "route": ["GET", "/v1/owners/{owner}/memories"],
        "given": {"owner": "alice"},
    }
    token = (beside.folder / "token").read_text().strip()
    answer = running_service.exchanged(beside.folder / "api.sock", token, ADDRESS, json.dumps(whole | asked).encode())
    assert json.loads(answer).keys() == {"left"}
    assert beside.calls == []


def test_a_service_that_has_no_room_leaves_the_question_to_the_command(
    beside: Beside, by_service: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_given: object) -> None:
        raise TooManyRequests("full", retry_after=1)

    monkeypatch.setattr(beside.application.reader, "list", full)
    with pytest.raises(Opened):
        by_service("list", "alice")
