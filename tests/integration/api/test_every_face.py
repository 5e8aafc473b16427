"""Every operation once through every face of one running service: HTTP, the command line, MCP, the client of both kinds."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from engramlog.answers import Result
from engramlog.client import Verb, Verbs
from engramlog_server.api.cli.main import run
from engramlog_server.api.operations.table import entries
from tests.given.access.everybody import ROUTES, STREAMS, asked, history_of
from tests.given.access.mcp_calls import Told, Tried, offered, tried
from tests.given.client import KINDS, connected, service
from tests.given.http import TOKEN, HttpStore, created, event
from tests.integration.access.test_every_tool import NEEDS, toolset_of
from tests.integration.live import wait_until
from tests.made.client_source import VERBS as MADE
from tests.rows import each_row

NUMBERS = count(1)
CHAT = [{"created_at": "2026-01-05T08:00:00Z", "messages": [{"role": "user", "content": "I read novels"}]}]
CREATED = {"memory_id": "sent", "content": "I ski", "category": "fact", "kind": "fact", "source": "user"}
ENVELOPE = {"type": "MemoryCreated", "actor": "user", "occurred_at": "2026-01-05T08:00:00Z", "data": CREATED}
RECORD = {"id": "row", "content": "I row", "created_at": "2026-01-05T08:00:00Z"}
GRANT = {"verbs": ["read"], "owners": ["alice"]}
DIGEST = "sha256:9f86d081"
PAGE = "https://w.example.org/x"


@dataclass(frozen=True, eq=False)
class Running:
    """A service, and a client of each kind."""

    url: str
    http: HttpStore
    poison: Callable[[str], str]
    clients: Mapping[str, Any]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("ENGRAMLOG_TOKEN", TOKEN)
        opened = stack.enter_context(service(tmp_path_factory.mktemp("faces")))
        clients = {kind: stack.enter_context(connected(kind, opened.url)) for kind in KINDS}
        yield Running(opened.url, opened.http, opened.poison, clients)


def story(running: Running, name: str, *, asks: bool = False) -> str:
    """The owner of whoever only asks, or a new one; and what an operation of this name needs more."""
    plain = not any(one in name for one in ("answer", "bring", "dead"))
    owner, http = "asked" if asks and plain else f"own-{next(NUMBERS)}", running.http
    if http.application.log.owner_head(owner):
        return owner
    http.told(
        owner,
        *history_of(owner),
        created("gone", "I smoke", owner=owner),
        created("waits", "I keep bees", owner=owner, source="assistant") | {"actor": "assistant", "trust": "proposed"},
        event("MemoryDeleted", owner=owner, key=1, memory_id="gone"),
    )
    path = f"/v1/owners/{owner}"
    if "dead" in name:
        running.poison(owner)
        wait_until(lambda: any(one["owner"] == owner for one in http.application.operator.dead()["quarantined"]))
    if name.startswith("unmerge"):
        http.application.writer.merge(owner, ["coffee", "tea"], into="both")
    if "answer" in name:
        body = {"text": "What do I drink?", "session": "s1", "turn_id": "t1", "trace": True}
        assert http.client.post(f"{path}/context", json=body).status_code == 200
    if "bring" in name:
        body = {"session": "s1", "reason": "it was not Ann"}
        assert http.client.post(f"{path}/set-aside", json=body).status_code == 200
    return owner


def by_http(running: Running, route: str) -> None:
    """The client of the tests also compares the answer with the shape that the route documents."""
    owner, case = story(running, route, asks=route.startswith("GET")), ROUTES[route]
    given = case.before(running.http, owner) if case.before is not None else {}
    if route.endswith("discard"):
        stuck = running.http.application.operator.dead_show(owner)["position"]
        given = {"body": {"position": stuck, "reason": "broken"}}
    answer = asked(route, owner, given=given).sent(running.http, TOKEN)
    assert answer.status_code in (200, 207), f"{answer.status_code} {answer.text[:300]}"


COMMANDS: Mapping[str, str] = {
    "access": "access",
    "add": "add OWNER I-live-in-Porto --tag place",
    "alarms": "alarms",
    "answers": "answers OWNER",
    "answers of a turn": "answers OWNER t1",
    "append": "append FILE:events",
    "assess": "assess OWNER coffee",
    "associations": "associations OWNER coffee",
    "cleanup": "cleanup OWNER --dry-run",
    "compare": "compare OWNER",
    "compare one": "compare OWNER coffee",
    "context": "context OWNER coffee --no-trace",
    "dead": "dead",
    "dead of an owner": "dead OWNER",
    "delete": "delete OWNER coffee",
    "delete --undo": "delete --undo OWNER gone",
    "diff": "diff OWNER --since 2026-01-01",
    "edit": "edit OWNER coffee I-drink-coffee-at-eight",
    "edit --sensitivity": "edit OWNER coffee --sensitivity 2 --reason so",
    "edit --tier": "edit OWNER coffee --tier core",
    "episodes": "episodes OWNER --dry-run",
    "events": "events OWNER",
    "events of a partition": "events --partition 0",
    "events by source": "events --sources OWNER",
    "events by time": "events --times OWNER",
    "export": "export OWNER",
    "extract": "extract OWNER --dry-run",
    "facts": "facts OWNER",
    "fading": "fading OWNER",
    "get": "get OWNER coffee",
    "grant": "grant support --can read --owners alice",
    "health": "health OWNER",
    "history": "history OWNER",
    "history of one": "history OWNER coffee",
    "import turns": "import turns FILE:turns --owner OWNER",
    "import turns --shape": "import turns --shape auto --owner OWNER FILE:chats",
    "import records": "import records FILE:records --owner OWNER",
    "inbox": "inbox OWNER",
    "inbox --accept": "inbox OWNER waits --accept",
    "inbox --reject": "inbox OWNER waits --reject",
    "inbox in other words": "inbox OWNER waits I-keep-two-hives",
    "list": "list OWNER",
    "list --counts": "list OWNER --counts",
    "map": "map OWNER coffee",
    "mention": "mention OWNER coffee",
    "mention --confirm": "mention OWNER coffee --confirm --actor operator",
    "merge": "merge OWNER coffee tea",
    "negate": "negate OWNER coffee --correction I-drink-water",
    "parameters": "parameters",
    "profile": "profile OWNER",
    "profile chosen": "profile OWNER ebbinghaus",
    "reinforce": "reinforce OWNER coffee",
    "replay": "replay OWNER --without-actor assistant",
    "retract": "retract OWNER --without-actor assistant --dry-run",
    "review": "review OWNER",
    "review --grade": "review OWNER coffee --grade 4",
    "search": "search OWNER coffee --no-trace",
    "set-aside": "set-aside OWNER",
    "set-aside --ground": f"set-aside OWNER --ground {PAGE} --digest {DIGEST}",
    "set-aside a session": "set-aside OWNER --session s1 --reason so",
    "set-aside, bring back": "set-aside OWNER --session s1 --undo --reason so",
    "stats": "stats OWNER",
    "status": "status",
    "synonyms": "synonyms OWNER",
    "synonyms defined": "synonyms OWNER coffee java",
    "unmerge": "unmerge OWNER both",
    "why": "why OWNER coffee",
    "why above": "why OWNER coffee --above tea --query coffee",
    "why --provenance": "why OWNER coffee --provenance",
    "why --uses": "why OWNER coffee --uses",
}
"""By what it does: the words of a command that the application answers; `FILE:` names what a file holds."""
FILES: Mapping[str, str] = {
    "events": json.dumps(ENVELOPE | {"owner": "OWNER", "event_id": "018f3c1e-7b2a-7000-8000-000000000003"}),
    "chats": json.dumps(CHAT),
    "turns": json.dumps({"turn_id": "t9", "role": "user", "text": "I ski", "occurred_at": "2026-01-05T08:00:00Z"}),
    "records": json.dumps(RECORD),
}


def printed(running: Running, words: list[str]) -> str:
    """What a command prints; it must end well."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(lambda: nullcontext(running.http.application), words)
    assert code == 0, f"exit code {code}: {err.getvalue()[:300]}"
    return cast("io.BytesIO", out.buffer).getvalue().decode()


def by_command(running: Running, name: str) -> None:
    """For people, and as JSON about an owner of the same story."""
    shown = printed(running, words_of(running, name))
    assert shown.strip()
    told = printed(running, [*words_of(running, name), "--json"])
    assert json.loads(told) is not None


def words_of(running: Running, name: str) -> list[str]:
    """The words, with the owner of a story, and the files that they name."""
    owner, words = story(running, name), list[str]()
    item = running.http.application.inbox.page(owner)["items"][0]["item"]
    for word in COMMANDS[name].split():
        if word.startswith("FILE:"):
            file = Path(running.http.store.embedded.folder, f"{owner}.jsonl")  # type: ignore[union-attr]
            file.write_text(FILES[word[5:]].replace("OWNER", owner) + "\n")
            words.append(str(file))
        else:
            words.append({"OWNER": owner, "waits": item}.get(word, word))
    return words


def by_mcp(running: Running, name: str) -> None:
    told = tools_tried(running)[name]
    assert told.outcome == "answered", told.text[-400:]


@cache
def tools_tried(running: Running) -> Mapping[str, Told]:
    """How every tool and resource answers, by one server for each toolset."""
    found: dict[str, Told] = {}
    for toolset in ("agent", "audit"):
        names = [name for name in NEEDS if toolset_of(name) == toolset]
        calls = [Tried(TOKEN, story(running, name, asks=toolset == "audit"), NEEDS[name][1]) for name in names]
        found |= zip(names, tried(running.http.application, toolset, calls), strict=True)
    return found


VERBS = sorted(name for name in dir(Verbs) if isinstance(getattr(Verbs, name), Verb))
GIVEN: Mapping[str, tuple[Any, ...]] = {
    "accept": ("ITEM",),
    "add": ("I live in Porto",),
    "add_many": (["I live in Porto"],),
    "amend": ("ITEM", "I keep two hives"),
    "answer": ("t1",),
    "append": ([ENVELOPE],),
    "assess": ("coffee",),
    "check_heads": ("HEADS",),
    "context": ("What do I drink?",),
    "define_synonym": ("coffee", "brew"),
    "diff": ("2026-01-01",),
    "edit": ("coffee", "I drink mocha"),
    "grade": ("coffee", 4),
    "import_chats": (CHAT,),
    "make_key": ("support",),
    "map": ("coffee",),
    "map_picture": ("coffee",),
    "merge": (["coffee", "tea"],),
    "partition_events": (3,),
    "reject": ("ITEM",),
    "report_ground": (PAGE, DIGEST),
    "restore": ("gone",),
    "restore_many": (["gone"],),
    "revoke_key": ("KEY",),
    "search": ("coffee",),
    "set_grants": ("support", [GRANT]),
    "set_sensitivity": ("coffee", 1),
    "unmerge": ("both",),
    "update": ("coffee", "I drink mocha"),
}
OF_ONE = ("confirm", "curves_picture", "delete", "get", "mention", "negate", "reinforce", "why")
"""Written by hand, about one memory."""
NAMED: Mapping[str, dict[str, Any]] = {
    "bring_back": {"session": "s1"},
    "choose_profile": {"profile": "ebbinghaus"},
    "extract": {"dry_run": True},
    "retract": {"without_actors": ["assistant"], "dry_run": True},
    "set_aside": {"session": "s1"},
    "set_sensitivity": {"reason": "made up"},
}
OF_THE_STORE = {name for name, one in MADE.items() if "owner" not in one.subject}


def by_client(kind: str) -> Callable[[Running, str], None]:
    def called(running: Running, name: str) -> None:
        """Nothing that the service tells is left beside the fields of the answer."""
        asks = name in MADE and MADE[name].route[0] == "GET"
        owner, keys = story(running, name, asks=asks), running.http.application.keys
        placed = {
            "ITEM": lambda: running.http.application.inbox.page(owner)["items"][0]["item"],
            "HEADS": lambda: running.http.client.get("/v1/heads").json()["line"],
            "KEY": lambda: keys.issue("leaver")["key_id"],
        }
        of_one = name in OF_ONE or (name in MADE and "memory_id" in MADE[name].subject)
        given = [
            placed[one]() if isinstance(one, str) and one in placed else one
            for one in GIVEN.get(name, ("coffee",) if of_one else ())
        ]
        whose = {} if name in OF_THE_STORE else {"owner": owner}
        answer = getattr(running.clients[kind], name)(*given, **whose, **NAMED.get(name, {}))
        if name == "export":
            return
        if name in ("curves_picture", "map_picture"):
            assert "<svg" in answer.svg
            return
        assert isinstance(answer, Result)
        assert name not in MADE or type(answer).__name__ == MADE[name].answer
        assert list(_left_over(answer)) == []

    return called


def _left_over(answer: Result, where: str = "") -> Iterator[str]:
    yield from (f"{where}{name}" for name in answer.extra_fields)
    for name, value in vars(answer).items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Result):
                yield from _left_over(one, f"{where}{name}.")


FACES: Mapping[str, tuple[Callable[[Running, str], None], list[str]]] = {
    "http": (by_http, sorted(set(ROUTES) - STREAMS)),
    "command": (by_command, sorted(COMMANDS)),
    "mcp": (by_mcp, sorted(NEEDS)),
    **{f"client, {kind}": (by_client(kind), VERBS) for kind in KINDS},
}


@each_row("face, name", [(face, name) for face, (_, names) in FACES.items() for name in names])
def test_every_operation_works_at_every_face_that_has_it(running: Running, face: str, name: str) -> None:
    FACES[face][0](running, name)


def test_the_tables_have_every_command_and_every_tool(running: Running) -> None:
    """Every route: `tests/integration/access/test_every_route.py`. Verbs are read off the client."""
    commands = {name for name, one in entries().items() if one.module.startswith("engramlog_server.api.")}
    assert {words.split()[0] for words in COMMANDS.values()} == commands
    tools = {toolset: offered(running.http.application, toolset) for toolset in ("agent", "audit")}
    assert set.union(*tools.values()) == set(NEEDS)
