"""Own and shared memory in one question, by a caller with keys and without."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Any

import httpx2
import pytest
from rich.console import Console

from engramlog import AccessDenied, InputError, Memory
from engramlog_server.api.cli.commands.memories import HELP
from engramlog_server.api.cli.show.search import explained
from engramlog_server.api.mcp.connection import WhoAsks, confined_to, in_hand
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.events.catalogue import Grant
from engramlog_server.projections.access.caller import Caller
from engramlog_server.projections.language.prompt_text import estimated_tokens
from tests.given.client import Service, service
from tests.given.http import TOKEN
from tests.given.mcp import Agent, in_process, talk
from tests.integration.live import wait_until


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("sharing")) as opened:
        yield opened


@pytest.fixture(scope="module")
def whole(running: Service) -> Iterator[Memory]:
    with Memory(running.url, token=TOKEN) as memory:
        memory.add("My deploy needs two approvals", owner="alice")
        memory.add("I live in Porto", owner="alice")
        memory.add("The deploy window is Tuesday at nine", owner="team/ops")
        memory.add("A deploy without a ticket is rolled back", owner="team/ops")
        memory.add("The deploy password is hunter2-Kx9!", owner="team/ops")
        memory.add("The deploy of the rival team failed", owner="team/other")
        yield memory


def _key(running: Service, whole: Memory, name: str, *grants: dict[str, object]) -> Memory:
    made = whole.make_key(name)
    whole.set_grants(name, list(grants))
    return Memory(running.url, token=made.key)


def test_a_search_finds_own_and_shared_memories_and_says_whose_each_is(whole: Memory) -> None:
    found = whole.search("When is the deploy window?", owner="alice", owners=["team/ops"], limit=3)
    assert found.results[0].memory == "The deploy window is Tuesday at nine"
    assert {(one.owner, one.memory) for one in found.results} == {
        ("team/ops", "The deploy window is Tuesday at nine"),
        ("team/ops", "A deploy without a ticket is rolled back"),
        ("alice", "My deploy needs two approvals"),
    }
    relevances = [one.relevance for one in found.results]
    assert relevances == sorted(relevances, reverse=True)
    assert [one.owner for one in found.owners] == ["alice", "team/ops"]
    assert found.total == sum(one.total for one in found.owners)
    assert "hunter2" not in str(found.as_dict())
    assert sum(one.count for one in found.withheld) == sum(part.count for one in found.owners for part in one.withheld)


def test_the_command_takes_other_owners_and_its_table_says_whose_each_memory_is(
    running: Service, whole: Memory
) -> None:
    assert "owners" in HELP
    told = {"query": "deploy window", "owners": ["team/ops"], "trace": "false"}
    with httpx2.Client(base_url=running.url, headers={"authorization": f"Bearer {TOKEN}"}) as http:
        answers = [http.get("/v1/owners/alice/search", params=one).json() for one in (told, {"query": "deploy window"})]
    printed = [StringIO(), StringIO()]
    for answer, into in zip(answers, printed, strict=True):
        explained(answer, Console(file=into, width=200))
    rows = [line.split() for line in printed[0].getvalue().splitlines()]
    for hit in answers[0]["results"]:
        assert [row[1] for row in rows if row[:1] == [hit["id"]]] == [hit["owner"]] * 2
    assert "whose" not in printed[1].getvalue()


def test_a_search_of_one_owner_is_as_it_was(whole: Memory) -> None:
    plain = whole.search("deploy", owner="alice", trace=False)
    assert whole.search("deploy", owner="alice", owners=["alice"], trace=False).results[0].id == plain.results[0].id
    assert plain.owners == []
    assert plain.results[0].owner is None


def test_what_is_shown_is_recorded_with_the_owner_of_the_memory(running: Service, whole: Memory) -> None:
    def shown(owner: str) -> set[str]:
        running.http.application.accesses.flush()
        events = whole.events(owner=owner, types=["MemoriesAccessed"]).events
        accesses = [one for event in events for one in (event.data or {}).get("accesses", ())]
        return {memory_id for one in accesses for memory_id in one["shown"]}

    found = whole.search("deploy", owner="alice", owners=["team/ops"], limit=10)
    assert {one.owner for one in found.results} == {"alice", "team/ops"}
    for owner in ("alice", "team/ops"):
        of_owner = {one.id for one in found.results if one.owner == owner}
        wait_until(lambda owner=owner, of_owner=of_owner: of_owner <= shown(owner))
    assert not shown("team/other")


def test_a_block_has_a_part_for_each_owner_within_one_budget(whole: Memory) -> None:
    own = whole.context("When is the deploy window?", owner="alice")
    block = whole.context("When is the deploy window?", owner="alice", owners=["team/ops", "nobody"], budget=600)
    assert block.tokens <= 600
    assert block.block.index("I live in Porto") < block.block.index("[Shared memory of team/ops")
    assert block.block.rindex("[Shared memory of team/ops") < block.block.rindex("The deploy window is Tuesday")
    assert "hunter2" not in block.block
    assert "rival" not in block.block
    assert "nobody" not in block.block
    assert [one.owner for one in block.others] == ["team/ops", "nobody"]
    assert [whole.get(one, owner="team/ops").content for one in block.others[0].injected] == [
        "The deploy window is Tuesday at nine"
    ]
    assert set(block.injected) == set(own.injected)
    sizes = [block.sizes, *(one.sizes for one in block.others)]
    assert abs(sum(one.stable + one.turn for one in sizes if one) - block.tokens) <= 1, "rounded once"
    assert (block.others[1].sizes.stable, block.others[1].sizes.turn) == (0, 0)
    assert own.others == []


def test_labels_are_within_the_budget_however_long_a_name_is_and_a_half_of_nothing_but_the_time_is_left_out(
    whole: Memory,
) -> None:
    long = "运维" * 60
    whole.add("The 部署 key is with Kim", owner=long)
    for budget in (1_500, 3_000):
        block = whole.context("Hello", owner="alice", owners=[long], budget=budget, related="never")
        assert estimated_tokens(block.block) <= block.tokens <= budget
        assert f"[Shared memory of {long}" in block.stable
        assert long not in block.turn


def test_a_stable_part_without_room_is_refused_before_anything_is_recorded(whole: Memory) -> None:
    before = len(whole.history(owner="team/ops").changes)
    with pytest.raises(InputError) as refusal:
        whole.context(
            "When can I deploy?",
            owner="alice",
            owners=["team/ops"],
            budget=500,
            stable_budget=490,
            turn_id="t-9",
            trace=True,
        )
    assert refusal.value.field == "stable_budget"
    assert len(whole.history(owner="team/ops").changes) == before


def test_a_block_that_is_put_into_a_prompt_is_recorded_with_each_owner(whole: Memory) -> None:
    block = whole.context("When can I deploy?", owner="alice", owners=["team/ops"], turn_id="t-1", trace=True)
    assert block.recorded.status == "appended"
    assert block.others[0].recorded.status == "appended"
    again = whole.context("When can I deploy?", owner="alice", owners=["team/ops"], turn_id="t-1", trace=True)
    assert again.recorded.status == "already"
    assert again.others[0].recorded.status == "already"


def test_nothing_of_an_owner_who_may_not_be_read_appears_and_nothing_is_recorded(
    running: Service, whole: Memory
) -> None:
    reads = {"verbs": ["read"], "owners": ["alice"], "sensitivity": 2}
    with _key(running, whole, "alice-agent", reads) as agent:
        before = [len(whole.history(owner=owner).changes) for owner in ("alice", "team/ops")]
        for ask in (
            lambda: agent.search("deploy", owner="alice", owners=["team/ops"]),
            lambda: agent.context("deploy", owner="alice", owners=["team/ops"], trace=True),
        ):
            with pytest.raises(AccessDenied) as refusal:
                ask()
            assert "ticket" not in str(refusal.value)
            assert "Tuesday" not in str(refusal.value.context)
        assert [len(whole.history(owner=owner).changes) for owner in ("alice", "team/ops")] == before
        assert agent.search("deploy", owner="alice").results


def test_each_owner_is_narrowed_as_the_caller_is_there(running: Service, whole: Memory) -> None:
    whole.add("Bob of the ops team has diabetes, tell him of a late deploy", owner="team/ops")
    both = [
        {"verbs": ["read"], "owners": [owner], "sensitivity": most} for owner, most in (("alice", 2), ("team/ops", 1))
    ]
    with _key(running, whole, "narrowed", *both) as agent:
        assert "diabetes" in str(whole.search("late deploy", owner="alice", owners=["team/ops"], limit=20).as_dict())
        assert "diabetes" not in str(
            agent.search("late deploy", owner="alice", owners=["team/ops"], limit=20).as_dict()
        )
        assert "diabetes" not in str(agent.context("late deploy", owner="alice", owners=["team/ops"]).as_dict())


def test_an_owner_whom_the_caller_reads_in_another_mode_only_refuses_all_and_nothing_is_recorded(
    running: Service, whole: Memory
) -> None:
    grants = [
        {"verbs": ["read"], "owners": ["alice"]},
        {"verbs": ["read"], "owners": ["team/ops"], "modes": ["review"]},
    ]
    with _key(running, whole, "review-alone", *grants) as agent:
        before = len(whole.history(owner="alice").changes)
        assert agent.search("deploy", owner="team/ops", mode="review").results
        with pytest.raises(AccessDenied):
            agent.search("deploy", owner="team/ops")
        with pytest.raises(AccessDenied):
            agent.search("deploy", owner="alice", owners=["team/ops"], trace=True)
        running.http.application.accesses.flush()
        assert len(whole.history(owner="alice").changes) == before


def _asked(server: MemoryServer, refused: bool = False, **owners: list[str]) -> list[str]:
    """What each tool that takes other owners answers, as text."""
    calls = {"search_memories": "query", "memory_contextual_search": "query", "memory_context": "text"}

    async def talking(agent: Agent) -> list[str]:
        ask: Any = agent.refused if refused else agent.call
        return [str(await ask(tool, **{what: "When is the deploy window?"}, **owners)) for tool, what in calls.items()]

    return talk(server, talking)


def _key_of(whole: Memory, name: str, *grants: dict[str, object]) -> WhoAsks:
    made = whole.make_key(name)
    whole.set_grants(name, list(grants))
    return confined_to(str(made.key))


def _recorded(running: Service, whole: Memory, *owners: str) -> list[int]:
    """How many events each owner has, when all that was shown is recorded; an access moves no head."""
    running.http.application.accesses.flush()
    return [len(whole.events(owner=owner, limit=1_000).events) for owner in owners]


def test_over_mcp_a_search_and_a_block_say_whose_each_memory_is(running: Service, whole: Memory) -> None:
    async def talking(agent: Agent) -> Any:
        asks = "When is the deploy window?"
        block = {"text": asks, "owners": ["team/ops"], "trace": True, "turn_id": "t-mcp"}
        return (
            await agent.call("search_memories", query=asks, owners=["team/ops"], limit=10),
            await agent.call("search_memories", query=asks, limit=10),
            await agent.call("memory_context", **block),
        )

    server = in_process(running.http.application, "alice", also=["team/ops", "nobody"])
    found, alone, block = talk(server, talking)
    over_http = whole.search("When is the deploy window?", owner="alice", owners=["team/ops"], limit=10, trace=False)
    assert [(one["id"], one["metadata"]["owner"]) for one in found["results"]] == [
        (one.id, one.owner) for one in over_http.results
    ]
    assert {one["metadata"]["owner"] for one in found["results"]} == {"alice", "team/ops"}
    assert {one["content_preview"] for one in found["results"]} >= {"The deploy window is Tuesday at nine"}
    counts = {one.reason: one.count for one in over_http.withheld}
    assert (found["total_found"], found["withheld"]) == (over_http.total, counts)
    assert not any("owner" in one["metadata"] for one in alone["results"])
    assert "[Shared memory of team/ops" in block["block"]
    (other,) = block["others"]
    assert (other["owner"], other["recorded"], block["recorded"]) == ("team/ops", "appended", "appended")
    assert "The deploy window is Tuesday at nine" in [
        whole.get(one, owner="team/ops").content for one in other["injected"]
    ]
    told = str((found, block, _asked(server, owners=["team/ops", "nobody"])))
    assert [word for word in ("hunter2", "rival", "team/other") if word in told] == []


def test_an_mcp_server_of_one_owner_refuses_every_other_known_or_not_whatever_a_key_allows(
    running: Service, whole: Memory
) -> None:
    every = _key_of(whole, "every-owner", {"verbs": ["read"], "owners": ["*"]})
    before = _recorded(running, whole, "team/ops")
    for also, others in (((), ("team/ops", "nobody")), (("team/ops",), ("team/other", "nobody", "bad owner"))):
        for who in (in_hand, every):
            server = in_process(running.http.application, "alice", who=who, also=also)
            for other in others:
                sentence = (
                    f"owners: got {other!r}; allowed: owners that the operator shares here (engramlog mcp --also OWNER)"
                )
                assert [one.startswith(sentence) for one in _asked(server, refused=True, owners=[other])] == [True] * 3
                assert "Porto" not in str(_asked(server, refused=True, owners=[*also, other]))
            assert "Porto" in str(_asked(server, owners=["alice"]))
    assert _recorded(running, whole, "team/ops") == before


def test_over_mcp_a_key_must_allow_each_owner_that_a_server_shares(running: Service, whole: Memory) -> None:
    grants: list[dict[str, object]] = [{"verbs": ["read"], "owners": [owner]} for owner in ("alice", "team/ops")]
    shared = ["team/ops", "team/other", "nobody"]
    server = in_process(running.http.application, "alice", who=_key_of(whole, "of-ops", *grants), also=shared)
    first = _recorded(running, whole, "alice", "team/ops")
    assert "Tuesday" in str(_asked(server, owners=["team/ops"]))
    before = _recorded(running, whole, "alice", "team/ops")
    assert all(now > then for now, then in zip(before, first, strict=True))
    unknown, *known = [
        _asked(server, refused=True, owners=owners) for owners in (["nobody"], ["team/other"], shared, shared[::-1])
    ]
    assert known == [unknown] * 3
    for refusal in unknown:
        assert "needed: a grant of the verb read" in refusal
        assert [word for word in (*shared, "rival", "Tuesday", "Porto") if word in refusal] == []
    assert _recorded(running, whole, "alice", "team/ops") == before


def test_over_mcp_each_owner_is_narrowed_as_the_caller_is_there(running: Service, whole: Memory) -> None:
    whole.add("Ann of the night team has asthma, ask her when the deploy window is", owner="team/night")
    both = [
        {"verbs": ["read"], "owners": [owner], "sensitivity": most} for owner, most in (("alice", 2), ("team/night", 1))
    ]
    narrow = in_process(
        running.http.application, "alice", who=_key_of(whole, "narrowed-mcp", *both), also=["team/night"]
    )
    assert "asthma" in str(
        _asked(in_process(running.http.application, "alice", also=["team/night"]), owners=["team/night"])
    )
    assert "asthma" not in str(_asked(narrow, owners=["team/night"]))


def test_over_mcp_the_token_of_an_identity_provider_reaches_the_owner_of_its_url_alone(
    running: Service, whole: Memory
) -> None:
    caller = Caller("oidc/ann", ((Grant(verbs=("read",), owners=("alice", "team/ops")),),), None)
    server = in_process(running.http.application, "alice", who=lambda _application: caller, also=["team/ops"])
    assert "Porto" in str(_asked(server))
    assert "Tuesday" not in str(_asked(server, refused=True, owners=["team/ops"]))


def test_over_mcp_too_many_owners_are_refused(running: Service, whole: Memory) -> None:
    many = [f"o{number}" for number in range(8)]
    server = in_process(running.http.application, "alice", also=many)
    assert all("owners: got '8 owners'; allowed: at most 7" in one for one in _asked(server, refused=True, owners=many))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"owners": [f"o{number}" for number in range(8)]}, "owners"),
        ({"owners": ["team/ops"], "cursor": "WyIzOjEyOCIsMTcwMCw1LCJhYiJd"}, "cursor"),
        ({"owners": ["bad owner"]}, "owner"),
    ],
)
def test_bad_input_names_the_field(whole: Memory, given: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as refusal:
        whole.search("deploy", owner="alice", **given)  # type: ignore[arg-type]
    assert refusal.value.field == field


@pytest.mark.parametrize("budget", [0, 150])
def test_a_budget_that_is_too_small_for_all_is_refused(whole: Memory, budget: int) -> None:
    with pytest.raises(InputError) as refusal:
        whole.context("deploy", owner="alice", owners=["team/ops"], budget=budget)
    assert refusal.value.field == "budget"
