"""Every tool of both toolsets and every resource, tried by everybody who may not use it, and by the one who may.

Over the HTTP face of MCP, in this process. What there is, the server itself tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

import pytest

from engramlog_server.events.catalogue import Verb
from engramlog_server.projections.access.caller import VERBS
from engramlog_server.projections.access.keys import make_token
from tests.given.access import everybody as given
from tests.given.access.everybody import CANARIES, FOREIGN
from tests.given.access.mcp_calls import REFUSED, Call, Tried, offered, resource, tool, tried
from tests.given.http import HttpStore, created, http_store

NUMBERS = count(1)
HIDDEN = "Okapi"
"""A word of a deleted memory alone."""


def _needs(*verbs: Verb) -> frozenset[Verb]:
    return frozenset(verbs)


READ, SAYS, CORRECTS = _needs("read"), _needs("produce"), _needs("correct")
DELETES, REPLAYS, AUDITS = _needs("delete"), _needs("replay"), _needs("audit")
OF_MEMORY = {"memory_id": "coffee"}
NEEDS: Mapping[str, tuple[frozenset[Verb] | None, Call]] = {
    "memory_context": (READ, tool("memory_context", text="What do I drink?")),
    "search_memories": (READ, tool("search_memories", query="coffee")),
    "memory_contextual_search": (READ, tool("memory_contextual_search", query="coffee")),
    "get_memory_detail": (READ, tool("get_memory_detail", **OF_MEMORY)),
    "memory_assess_knowledge": (READ, tool("memory_assess_knowledge", topic="coffee")),
    "memory_knowledge_map": (READ, tool("memory_knowledge_map", topic="coffee")),
    "memory_review_due": (READ, tool("memory_review_due")),
    "add_memory": (SAYS, tool("add_memory", content="I row on Sundays")),
    "add_turns": (SAYS, tool("add_turns", turns=[{"role": "user", "content": "I ski"}])),
    "reinforce_memory": (SAYS, tool("reinforce_memory", **OF_MEMORY)),
    "update_memory": (CORRECTS, tool("update_memory", content="I drink mocha", **OF_MEMORY)),
    "delete_memory": (DELETES, tool("delete_memory", **OF_MEMORY)),
    "audit_search": (READ, tool("audit_search", query="coffee")),
    "audit_list": (READ, tool("audit_list")),
    "audit_get": (READ, tool("audit_get", **OF_MEMORY)),
    "audit_why": (READ, tool("audit_why", above="tea", query="coffee", **OF_MEMORY)),
    "audit_history": (READ, tool("audit_history", **OF_MEMORY)),
    "audit_provenance": (READ, tool("audit_provenance", **OF_MEMORY)),
    "audit_associations": (READ, tool("audit_associations", **OF_MEMORY)),
    "audit_facts": (READ, tool("audit_facts")),
    "audit_stats": (READ, tool("audit_stats")),
    "audit_events": (AUDITS, tool("audit_events")),
    "audit_uses": (AUDITS, tool("audit_uses", **OF_MEMORY)),
    "audit_answers": (AUDITS, tool("audit_answers")),
    "audit_answer": (AUDITS, tool("audit_answer", turn_id="t1")),
    "audit_replay": (REPLAYS, tool("audit_replay", parameters=["user_factor=1.3"])),
    "audit_diff": (REPLAYS, tool("audit_diff", since="2026-01-06")),
    "audit_compare": (REPLAYS, tool("audit_compare")),
    "audit_laws": (None, tool("audit_laws")),
    "audit_status": (_needs("operate"), tool("audit_status")),
    "audit_alarms": (_needs("operate"), tool("audit_alarms")),
    "memory://about": (READ, resource("memory://about")),
    "memory://recent": (READ, resource("memory://recent")),
    "memory://inbox": (_needs("review"), resource("memory://inbox")),
    "memory://memories/{+memory_id}": (READ, resource("memory://memories/coffee")),
}
"""By tool, and by address of a resource: the verb of the owner that it takes (None: any will do), and a call that is answered."""
OF_THE_STORE = {"audit_status", "audit_alarms"}
"""About no owner: who may that, may it of the store as a whole."""
OF_ONE_MEMORY = {name for name, (_, call) in NEEDS.items() if "coffee" in str(call.names_memory)}


def toolset_of(name: str) -> str:
    """Where a tool is offered. Resources are with both."""
    return "audit" if name.startswith("audit_") else "agent"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """A store with the foreign owner."""
    with http_store(tmp_path_factory.mktemp("tools")) as opened:
        opened.told(FOREIGN, *given.history_of(FOREIGN, "I keep a hedgehog named Zuleika"))
        yield opened


@pytest.fixture(scope="module")
def by_verb(http: HttpStore) -> Mapping[str, str]:
    """For each verb a key of that one alone, on all owners."""
    return {verb: given.issued(http, f"only-{verb}", verb, owners=["*"]) for verb in VERBS}


@pytest.fixture(scope="module")
def strangers(http: HttpStore) -> Mapping[str, str | None]:
    return dict(given.strangers(http))


@pytest.fixture
def own(http: HttpStore) -> str:
    """An owner of whom something is known, and something deleted; whose turn was answered."""
    owner = f"own-{next(NUMBERS)}"
    http.told(owner, *given.history_of(owner), created("gone", f"I saw an {HIDDEN}", owner=owner))
    path = f"/v1/owners/{owner}"
    assert http.client.post(f"{path}/memories/gone/delete", json={}).status_code == 200
    told = {"text": "What do I drink?", "session": "s1", "turn_id": "t1", "trace": True}
    assert http.client.post(f"{path}/context", json=told).status_code == 200
    return owner


def heads_of(http: HttpStore, owner: str) -> tuple[int, int]:
    """Where the newest event of an owner stands, and of the foreign one."""
    return http.application.log.owner_head(owner), http.application.log.owner_head(FOREIGN)


def all_tried(http: HttpStore, toolset: str, wanted: Mapping[str, Tried]) -> dict[str, str]:
    """How each is answered, by what it is, once it is seen that none is told a word of the foreign owner."""
    found = tried(http.application, toolset, list(wanted.values()))
    told = dict(zip(wanted, found, strict=True))
    leaked = {who: one.text for who, one in told.items() if any(word in one.text for word in CANARIES)}
    assert leaked == {}
    return {who: one.outcome for who, one in told.items()}


def names_of(toolset: str) -> list[str]:
    """What a server of this toolset offers."""
    return sorted(name for name in NEEDS if "://" in name or toolset_of(name) == toolset)


TOOLSETS = pytest.mark.parametrize("toolset", ["agent", "audit"])


@TOOLSETS
def test_every_tool_and_every_resource_is_in_the_table(http: HttpStore, toolset: str) -> None:
    assert offered(http.application, toolset) == set(names_of(toolset))


@TOOLSETS
def test_what_opens_nothing_opens_no_tool(http: HttpStore, strangers: Mapping[str, str | None], toolset: str) -> None:
    before = heads_of(http, FOREIGN)
    wanted = {
        f"{name}: {who}": Tried(shown, FOREIGN, NEEDS[name][1])
        for name in names_of(toolset)
        for who, shown in strangers.items()
    }
    assert {what: how for what, how in all_tried(http, toolset, wanted).items() if how != "401"} == {}
    assert len(wanted) > 15 * 30
    assert heads_of(http, FOREIGN) == before


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_whoever_may_is_answered_and_nobody_else(
    http: HttpStore, own: str, by_verb: Mapping[str, str], name: str
) -> None:
    (needs, call), toolset = NEEDS[name], toolset_of(name)
    verbs, now = sorted(needs or ("read",)), http.application.log.now() // 1_000_000
    others = given.wide(http, f"others-{own}", [FOREIGN + "x", f"{own}/*", own + "x"])
    nothing = str(http.application.keys.issue(f"nothing-{own}", grants=[])["key"])
    whose = ["*"] if name in OF_THE_STORE else [own]
    right = given.wide(http, f"right-{own}", whose)

    def token(of: str, owners: list[str], *narrow: str) -> str:
        return make_token(of, [given.grant(*(narrow or verbs), owners=owners)], now=now, seconds=60)

    outside = {
        "of other owners": Tried(others, own, call),
        "of nothing": Tried(nothing, own, call),
        "a token of all by a key of others": Tried(token(others, ["*"]), own, call),
        "a token for another": Tried(token(right, [f"{own}x"]), own, call),
    }
    if name not in OF_THE_STORE:
        outside |= {
            "about another": Tried(right, FOREIGN, call),
            "a token of all, about another": Tried(token(right, ["*"]), FOREIGN, call),
        }
    before = heads_of(http, own)
    assert all_tried(http, toolset, outside) == dict.fromkeys(outside, "403")
    if needs is not None:
        narrow = {verb: Tried(key, own, call) for verb, key in by_verb.items() if verb not in needs}
        other = next(verb for verb in ("read", "correct") if verb not in needs)
        narrow["a token of another verb"] = Tried(token(right, ["*"], other), own, call)
        if name in OF_THE_STORE:
            of_owner = given.wide(http, f"owner-{own}", [own, f"{own}/*"])
            narrow["of every verb on the owner alone"] = Tried(of_owner, own, call)
        assert all_tried(http, toolset, narrow) == dict.fromkeys(narrow, REFUSED)
    assert heads_of(http, own) == before, "who is refused writes nothing"
    alone = given.issued(http, f"alone-{own}", *verbs, owners=whose)
    for who, shown in {"the verb alone": alone, "a token of it": token(right, ["*"])}.items():
        (told,) = tried(http.application, toolset, [Tried(shown, own, call)])
        assert (who, told.outcome) == (who, "answered"), told.text
        assert not any(word in told.text for word in CANARIES)
        if name == "delete_memory":
            http.application.restorer.restore_many(own, ["coffee"])
    assert heads_of(http, own)[1] == before[1]


@TOOLSETS
def test_an_owner_named_otherwise_is_nobody_s(http: HttpStore, own: str, toolset: str) -> None:
    right, before, names = given.wide(http, f"named-{own}", [own]), heads_of(http, own), owners(http)
    wanted = {
        f"{name}: {what}": Tried(right, named.replace("{own}", own), NEEDS[name][1], as_it_is=True)
        for name in names_of(toolset)
        for what, named in given.HOSTILE_OWNERS.items()
    }
    found = all_tried(http, toolset, wanted)
    assert {what: how for what, how in found.items() if how not in ("403", "404", "422")} == {}
    assert (heads_of(http, own), owners(http)) == (before, names)


def owners(http: HttpStore) -> list[str]:
    """Of whom anything is known."""
    return [one["owner"] for one in http.application.owners.owners(limit=1000)["owners"]]


@TOOLSETS
def test_a_foreign_memory_is_nothing_of_one_s_own(http: HttpStore, own: str, toolset: str) -> None:
    http.told(FOREIGN, created(f"of-{own}", "Zuleika eats worms", owner=FOREIGN))
    right, before = given.wide(http, f"memory-{own}", [own]), heads_of(http, FOREIGN)
    ids = (f"of-{own}", f"../../{FOREIGN}/memories/coffee", f"..%2F..%2F{FOREIGN}%2Fmemories%2Fcoffee")
    names = [name for name in names_of(toolset) if name in OF_ONE_MEMORY]
    wanted = {(name, one): Tried(right, own, NEEDS[name][1].about(one)) for name in names for one in ids}
    found = all_tried(http, toolset, {f"{name}: {one}": asked for (name, one), asked in wanted.items()})
    refused = {what for what, how in found.items() if how != "answered"}
    assert {what: found[what] for what in refused if found[what] != "refused otherwise"} == {}
    assert {what.partition(": ")[0] for what in set(found) - refused} <= TELLS_OF_NONE
    assert heads_of(http, FOREIGN) == before


TELLS_OF_NONE = {"audit_history", "audit_uses", "delete_memory"}
"""Those that answer of an id of nothing too: with nothing."""


@TOOLSETS
def test_who_reads_in_mode_normal_is_told_nothing_of_what_is_deleted(http: HttpStore, own: str, toolset: str) -> None:
    key = given.issued(http, f"normal-{own}", "read", "review", "replay", owners=[own], modes=["normal"])
    wide = given.issued(http, f"debug-{own}", "read", "review", "replay", owners=[own])
    wanted = {
        name: NEEDS[name][1].about("gone") if name in OF_ONE_MEMORY else NEEDS[name][1] for name in names_of(toolset)
    }
    modes = {
        f"{name} in {mode}": wanted[name].told(mode=mode)
        for name in names_of(toolset)
        if name in BY_MODE
        for mode in ("review", "debug")
    }
    told = tried(http.application, toolset, [Tried(key, own, one) for one in (wanted | modes).values()])
    found = dict(zip(wanted | modes, told, strict=True))
    assert {name for name, one in found.items() if HIDDEN in one.text} == set()
    assert {found[name].outcome for name in modes} <= {REFUSED}
    seen = tried(http.application, toolset, [Tried(wide, own, one) for one in modes.values()])
    assert toolset == "agent" or any(HIDDEN in one.text for one in seen), "a wider key is told it"


def test_an_owner_that_is_shared_is_told_to_nobody_whose_key_does_not_allow_it(http: HttpStore, own: str) -> None:
    right, before = given.wide(http, f"shared-{own}", [own]), heads_of(http, own)
    tools = ("search_memories", "memory_contextual_search", "memory_context")
    wanted = {
        f"{name}: {owners}": Tried(right, own, NEEDS[name][1].told(owners=owners))
        for name in tools
        for owners in ([FOREIGN], [own, FOREIGN], ["nobody"], [FOREIGN + "x"])
    }
    found = tried(http.application, "agent", list(wanted.values()), also=[FOREIGN, "nobody"])
    told = dict(zip(wanted, found, strict=True))
    assert {who: one.text for who, one in told.items() if any(word in one.text for word in CANARIES)} == {}
    assert {who: one.outcome for who, one in told.items()} == {
        who: "refused otherwise" if f"{FOREIGN}x" in who else REFUSED for who in wanted
    }
    for name in tools:  # the words do not depend on which owner it was, nor on whether there is one
        denials = {one.text.partition("access: ")[2] for who, one in told.items() if who.startswith(f"{name}: ")}
        assert len(denials - {""}) == 1, name
    assert heads_of(http, own) == before


BY_MODE = {"audit_search", "audit_list", "audit_replay", "audit_diff", "audit_why"}
"""Tools that are told a mode."""


def test_the_prompts_tell_the_same_to_all_whom_the_door_lets_in_and_to_nobody_else(
    http: HttpStore, own: str, strangers: Mapping[str, str | None]
) -> None:
    call = Call("prompts/get", {"name": "when_to_search"})
    wanted = {who: Tried(shown, own, call) for who, shown in strangers.items()}
    assert all_tried(http, "agent", wanted) == dict.fromkeys(strangers, "401")
    key = given.issued(http, f"prompts-{own}", "produce", owners=[own])
    assert all_tried(http, "agent", {"in": Tried(key, own, call), "out": Tried(key, FOREIGN, call)}) == {
        "in": "answered",
        "out": "403",
    }
