"""Every way to ask about an owner's memories: routes, tools, resources and commands; those that are not asked, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engramlog_server.events.partitions import partition_of
from tests.given.faces import OWNER, World

BY_ID = "asked for by its id, and marked deleted: how else could it be looked at before it is restored?"
DEBUG = "mode debug shows everything, what is deleted marked as such"
ASKED_FOR = "an export with `--include deleted` says of each line that it is deleted"
PAST = "the past as it was known then, until it is purged"
EVENTS_ONLY = (
    "an answer of receipts or change-log entries, which never hold content (asked through history, which tells reasons)"
)
NOTHING_OF_OWNERS = "tells nothing of an owner's memories"
OWN_PROCESS = "opens a store by itself and tells counts and positions only"


class Face(NamedTuple):
    """One way to ask."""

    ask: Callable[[World], str]
    tells: bool = True
    """Whether it tells the word while the turn stands."""
    kept: str | None = None
    """Why it may tell it although it is deleted."""


def q(made: World) -> str:
    return made.language.asks


def asks(made: World) -> list[str]:
    return [q(made)]


def partition(made: World) -> str:
    """Of the owner."""
    return str(partition_of(OWNER, made.store.app.log.partitions))


def get(path: str, tells: bool = True, kept: str | None = None, **query: Any) -> Face:
    """A GET of the owner; an argument that can be called is given the world."""
    return Face(lambda made: made.get(path, **_filled(made, query)), tells, kept)


def post(path: str, tells: bool = True, **body: Any) -> Face:
    return Face(lambda made: made.post(path, **_filled(made, body)), tells)


def tool(name: str, tells: bool = True, kept: str | None = None, **arguments: Any) -> Face:
    return Face(lambda made: made.tool(name, **_filled(made, arguments)), tells, kept)


def command(*words: Any, tells: bool = True, kept: str | None = None) -> Face:
    return Face(lambda made: made.command(*(one(made) if callable(one) else one for one in words)), tells, kept)


def _filled(made: World, asked: dict[str, Any]) -> dict[str, Any]:
    return {name: value(made) if callable(value) else value for name, value in asked.items()}


SINCE = {"since": "2000-01-01"}
SEARCH, LIST, MEMORY = "/search", "/memories", "/memories/t1"
HTTP: dict[str, list[Face]] = {
    "GET /v1/owners/{owner}/search": [
        get(SEARCH, query=q),
        *(get(SEARCH, query=q, search_mode=mode) for mode in ("keyword", "semantic", "hybrid")),
        *(get(SEARCH, query=q, ranking=one) for one in ("text", "published", "overlap", "associative", "conversation")),
        get(SEARCH, query=q, mode="review", limit=100),
        get(SEARCH, query=q, limit=100, keywords="pet"),
        get(SEARCH, query="tea", limit=100, associations=True),
        get(SEARCH, query=q, limit=100, session="s1"),
        get(SEARCH, query=q, cursor=lambda made: made.cursor, limit=20, search_mode="keyword"),
        get(SEARCH, kept=DEBUG, query=q, mode="debug", limit=100),
        get(SEARCH, kept=PAST, query=q, as_of=lambda made: made.position),
        get(SEARCH, kept=PAST, query=q, known=lambda made: made.position),
    ],
    "GET /v1/owners/{owner}/memories": [
        get(LIST, limit=1000),
        get(LIST, limit=1000, mode="review"),
        get(LIST, kept=DEBUG, limit=1000, mode="debug"),
    ],
    "GET /v1/owners/{owner}/memories/{memory_id}": [
        *(get(f"/memories/{one}", kept=BY_ID) for one in ("t1", "typed", "core", "one", "both", "episode-1", "fix")),
        get("/memories/old"),
        get("/memories/t2"),
        get("/memories/tea", tells=False),
        get(MEMORY, kept=PAST, as_of=lambda made: made.position),
        get(MEMORY, kept=PAST, known=lambda made: made.position),
    ],
    "POST /v1/owners/{owner}/memories/{memory_id}/reveal": [
        Face(lambda made: made.post("/memories/t1/reveal"), kept=BY_ID),
        post("/memories/t2/reveal"),
    ],
    "GET /v1/owners/{owner}/memories/{memory_id}/why": [
        get(f"{MEMORY}/why", kept=BY_ID), get("/memories/old/why"),
    ],
    "GET /v1/owners/{owner}/memories/{memory_id}/history": [
        get(f"{MEMORY}/history", tells=False), get("/memories/old/history"),
    ],
    "GET /v1/owners/{owner}/memories/{memory_id}/provenance": [get("/memories/both/provenance")],
    "GET /v1/owners/{owner}/memories/{memory_id}/associations": [get("/memories/tea/associations", depth=2)],
    "GET /v1/owners/{owner}/memories/{memory_id}/compare": [get(f"{MEMORY}/compare", kept=BY_ID, points=2)],
    "GET /v1/owners/{owner}/memories/{memory_id}/compare.svg": [get(f"{MEMORY}/compare.svg", kept=BY_ID, points=2)],
    "GET /v1/owners/{owner}/memories/{memory_id}/uses": [
        get("/memories/core/uses", kept=BY_ID), get("/memories/t2/uses", tells=False),
    ],
    "POST /v1/owners/{owner}/memories/{memory_id}/reinforce": [post("/memories/tea/reinforce", tells=False)],
    "POST /v1/owners/{owner}/memories/delete": [post("/memories/delete", tells=False, ids=["typed"], dry_run=True)],
    "POST /v1/owners/{owner}/memories/restore": [post("/memories/restore", tells=False, ids=["typed"], dry_run=True)],
    "POST /v1/owners/{owner}/memories/{memory_id}/delete": [
        post("/memories/typed/delete", tells=False, dry_run=True, with_sources=True),
    ],
    "POST /v1/owners/{owner}/context": [
        Face(lambda made: made.post("/context", text=f"{q(made)}?", session="s1", trace=False, budget=4000)),
        post("/context", text=lambda made: made.language.other, session="s1", trace=False, messages=0),
        post("/context", text="?", session="s1", turn_id="t2", trace=False),
    ],
    "POST /v1/owners/{owner}/extract": [post("/extract", dry_run=True)],
    "POST /v1/owners/{owner}/episodes": [post("/episodes", tells=False, dry_run=True)],
    "GET /v1/owners/{owner}/assess": [get("/assess", topic=q)],
    "GET /v1/owners/{owner}/map": [get("/map", topic=q), get("/map", topic="tea", depth=4, least=0)],
    "GET /v1/owners/{owner}/map.svg": [get("/map.svg", topic=q), get("/map.svg", topic="tea", depth=4, least=0)],
    "GET /v1/owners/{owner}/facts": [get("/facts"), get("/facts", about="User")],
    "GET /v1/owners/{owner}/synonyms": [get("/synonyms", tells=False)],
    "GET /v1/owners/{owner}/health": [get("/health")],
    "GET /v1/owners/{owner}/inbox": [get("/inbox", tells=False)],
    "GET /v1/owners/{owner}/fading": [get("/fading", at="2030-01-01T00:00:00Z", limit=1000)],
    "GET /v1/owners/{owner}/review": [get("/review", min_importance=0, limit=100, at="2027-06-01T00:00:00Z")],
    "GET /v1/owners/{owner}/compare": [get("/compare", limit=1000)],
    "GET /v1/owners/{owner}/diff": [
        get("/diff", limit=1000, queries=q, **SINCE), get("/diff", limit=1000, line="happened", **SINCE),
        get("/diff", kept=DEBUG, limit=1000, mode="debug", **SINCE),
    ],
    "POST /v1/owners/{owner}/diff": [post("/diff", limit=1000, **SINCE)],
    "GET /v1/owners/{owner}/profile": [get("/profile", tells=False)],
    "GET /v1/owners/{owner}/export": [
        get("/export"),
        get("/export", format="text"),
        get("/export", include="superseded"),
        get("/export", kept=ASKED_FOR, include=["deleted", "merged", "superseded", "negated", "retired"]),
        get("/export", kept=ASKED_FOR, include="deleted", format="text"),
        get("/export", kept=ASKED_FOR, everything=True),
    ],
    "POST /v1/owners/{owner}/export": [
        post("/export", reveal=True),
        Face(lambda made: made.post("/export", include=["deleted"], reveal=True), kept=ASKED_FOR),
    ],
    "POST /v1/owners/{owner}/cleanup": [post("/cleanup", tells=False, dry_run=True, jobs=["merge", "link", "review"])],
    "GET /v1/owners/{owner}/sources": [get("/sources", tells=False)],
    "GET /v1/owners/{owner}/times": [get("/times", tells=False)],
    "GET /v1/owners/{owner}/answers": [get("/answers", tells=False)],
    "GET /v1/owners/{owner}/answers/{turn_id}": [get("/answers/t4")],
    "POST /v1/owners/{owner}/retract": [post("/retract", tells=False, without_sessions=["s1"], dry_run=True, queries=asks)],
    "POST /v1/owners/{owner}/replay": [
        post("/replay", queries=asks, parameters={"user_factor": 1.3}),
        Face(lambda made: made.post("/replay", mode="debug", parameters={"user_factor": 1.3}), kept=DEBUG),
    ],
    "GET /v1/owners/{owner}/history": [get("/history")],
    "GET /v1/owners/{owner}/events": [
        get("/events", limit=1000),
        get("/events", limit=1000, order="newest", types=["TurnRecorded"], session="s1"),
        get("/events", limit=1000, as_of=lambda made: made.position),
        get("/events", limit=1000, known=lambda made: made.position),
    ],
    "GET /v1/partitions/{partition}/events": [
        Face(lambda made: made.plain(f"/v1/partitions/{partition(made)}/events?limit=1000")),
    ],
    "GET /v1/owners/{owner}/stats": [get("/stats", tells=False)],
    "GET /v1/owners/{owner}/counts": [get("/counts", tells=False), get("/counts", tells=False, mode="review", words=q)],
    "GET /v1/owners/{owner}/heads": [get("/heads", tells=False)],
    **{f"GET {path}": [Face(lambda made, path=path: made.plain(path), False)]  # type: ignore[misc]
       for path in ("/v1/status", "/v1/stats", "/v1/owners", "/v1/laws", "/v1/parameters", "/v1/schema", "/v1/dead", "/v1/alarms",
                    "/v1/heads", "/v1/jobs", "/v1/capacity", "/v1/models", "/v1/me", "/v1/access", "/v1/reads",
                    "/health", "/ready", "/metrics")},
}  # fmt: skip
SOURCES_ONLY = "tells names of sources, ids and counts; a test of its own has what is withheld"
HTTP_UNASKED = {
    "POST /v1/events": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/edit": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/mention": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/negate": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/restore": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/sensitivity": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/confirm": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/unmerge": EVENTS_ONLY,
    "POST /v1/owners/{owner}/memories/{memory_id}/grade": "tells intervals of the memory that it names, as reinforce does",
    "POST /v1/owners/{owner}/merge": EVENTS_ONLY,
    "POST /v1/owners/{owner}/inbox/accept": EVENTS_ONLY,
    "POST /v1/owners/{owner}/inbox/edit": EVENTS_ONLY,
    "POST /v1/owners/{owner}/inbox/reject": EVENTS_ONLY,
    "POST /v1/owners/{owner}/synonyms": "what somebody says two words mean is made of no memory, and stays",
    **{f"{verb} /v1/owners/{{owner}}/set-aside": SOURCES_ONLY for verb in ("GET", "POST")},
    "POST /v1/owners/{owner}/bring-back": SOURCES_ONLY,
    "POST /v1/owners/{owner}/grounds": EVENTS_ONLY,
    "POST /v1/owners/{owner}/profile": "answers what GET profile answers",
    "POST /v1/owners/{owner}/import/records": EVENTS_ONLY,
    "POST /v1/owners/{owner}/chats": EVENTS_ONLY,
    "GET /v1/owners/{owner}/feed": "a stream of the entries that history tells, without end",
    "POST /v1/alarms/clear": NOTHING_OF_OWNERS,
    **dict.fromkeys(
        (
            "POST /v1/console/codes",
            "POST /v1/console/codes/state",
            "POST /v1/console/session",
            "POST /v1/console/session/end",
        ),
        NOTHING_OF_OWNERS,
    ),
    "POST /v1/heads/check": NOTHING_OF_OWNERS,
    **dict.fromkeys(("POST /v1/keys", "POST /v1/keys/revoke", "POST /v1/grants"), NOTHING_OF_OWNERS),
    "GET /v1/dead/{owner}": NOTHING_OF_OWNERS,
    "POST /v1/dead/{owner}/retry": NOTHING_OF_OWNERS,
    "POST /v1/dead/{owner}/discard": NOTHING_OF_OWNERS,
}
MCP: dict[str, list[Face]] = {
    "memory_context": [tool("memory_context", text=q, session="s1")],
    "search_memories": [tool("search_memories", query=q), tool("search_memories", query=q, search_mode="keyword")],
    "memory_contextual_search": [tool("memory_contextual_search", query=q)],
    "get_memory_detail": [
        tool("get_memory_detail", memory_id="t1", kept=BY_ID),
        tool("get_memory_detail", memory_id="t1", reasons=True, kept=BY_ID),
    ],
    "delete_memory": [tool("delete_memory", tells=False, memory_id="typed", dry_run=True)],
    "reinforce_memory": [
        tool("reinforce_memory", tells=False, memory_id="tea"),
        tool("reinforce_memory", tells=False, memory_id="tea", outcome="mentioned"),
    ],
    "memory_assess_knowledge": [tool("memory_assess_knowledge", topic=q)],
    "memory_knowledge_map": [tool("memory_knowledge_map", topic=q)],
    "memory_review_due": [tool("memory_review_due", tells=False, min_importance=0, limit=50)],
    "memory://about": [Face(lambda made: made.resource("memory://about"), False)],
    "memory://recent": [Face(lambda made: made.resource("memory://recent"))],
    "memory://inbox": [Face(lambda made: made.resource("memory://inbox"), False)],
    "memory://memories/{+memory_id}": [Face(lambda made: made.resource("memory://memories/t1"), kept=BY_ID)],
}
MCP_UNASKED = {
    "add_memory": "tells the memory that it is given",
    "add_turns": EVENTS_ONLY,
    "update_memory": EVENTS_ONLY,
}
CLI: dict[str, list[Face]] = {
    "search": [command("search", OWNER, q), command("search", OWNER, q, "--explain", "--associations")],
    "list": [
        command("list", "--counts", OWNER, tells=False),
        command("list", OWNER),
        command("list", OWNER, "--mode", "debug", kept=DEBUG),
    ],
    "get": [command("get", OWNER, "t1", kept=BY_ID), command("get", OWNER, "old")],
    "why": [
        command("why", "--uses", OWNER, "core", kept=BY_ID),
        command("why", "--uses", OWNER, "t2", tells=False),
        command("why", "--provenance", OWNER, "both"),
        command("why", OWNER, "t1", kept=BY_ID),
        command("why", OWNER, "t1", "--above", "tea", "--query", q, kept=BY_ID),
    ],
    "diff": [command("diff", OWNER, "--since", "2000-01-01", "-k", "1000")],
    "history": [command("history", OWNER, "t1", tells=False), command("history", OWNER, "--everything")],
    "events": [
        command("events", "--times", OWNER, tells=False),
        command("events", "--sources", OWNER, tells=False),
        command("events", OWNER, "-k", "1000"),
        command("events", OWNER, "-k", "1000", "--json"),
        command("events", "--partition", partition, "-k", "1000", "--order", "newest"),
    ],
    "associations": [command("associations", OWNER, "tea", "--depth", "2")],
    "map": [command("map", OWNER, q)],
    "assess": [command("assess", OWNER, q)],
    "facts": [command("facts", OWNER)],
    "health": [command("health", OWNER)],
    "inbox": [command("inbox", OWNER, tells=False)],
    "fading": [command("fading", OWNER, "--at", "2030-01-01T00:00:00Z")],
    "review": [command("review", OWNER, "--min-importance", "0", "--at", "2027-06-01T00:00:00Z", "-k", "100")],
    "compare": [command("compare", OWNER)],
    "context": [command("context", OWNER, q, "--session", "s1", "--no-trace")],
    "extract": [command("extract", OWNER, "--dry-run")],
    "episodes": [command("episodes", OWNER, "--dry-run", tells=False)],
    "export": [
        command("export", OWNER),
        command("export", OWNER, "--include", "deleted", kept=ASKED_FOR),
        command("export", OWNER, "--everything", kept=ASKED_FOR),
    ],
    "answers": [command("answers", OWNER, tells=False), command("answers", OWNER, "t4")],
    "retract": [command("retract", OWNER, "--without-session", "s1", "--dry-run", tells=False)],
    "replay": [command("replay", OWNER, "--query", q, tells=False)],
    "cleanup": [command("cleanup", OWNER, "--dry-run", tells=False)],
    "delete": [command("delete", OWNER, "typed", "--dry-run", tells=False)],
    "synonyms": [command("synonyms", OWNER, tells=False)],
    "profile": [command("profile", OWNER, tells=False)],
    "stats": [command("stats", OWNER, tells=False)],
}
CLI_UNASKED = {
    **dict.fromkeys(("append", "import turns", "import records", "negate", "merge", "unmerge"),
                    EVENTS_ONLY),
    **dict.fromkeys(("add", "edit", "mention"), EVENTS_ONLY),
    "reinforce": EVENTS_ONLY,
    "set-aside": SOURCES_ONLY,
    "mcp": "serves the tools and resources above",
    "hook": "asks for the context block and records turns by the routes above",
    **dict.fromkeys(("install", "uninstall"), "change files of other programs, which have no memories in them"),
    **dict.fromkeys(("up", "console", "token", "seal", "erase", "worker", "rebuild", "verify",
                     "demo"), OWN_PROCESS),
    **dict.fromkeys(("status", "alarms", "doctor",
                     "master-key", "backup make", "backup keys", "backup check", "backup restore", "backup take-over",
                     "key new", "key revoke", "key narrow", "grant", "access", "parameters", "dead"),
                    NOTHING_OF_OWNERS),
}  # fmt: skip
FACES = {
    f"{kind} {name} ({number})": face
    for kind, table in (("http", HTTP), ("mcp", MCP), ("cli", CLI))
    for name, faces in table.items()
    for number, face in enumerate(faces, 1)
}
