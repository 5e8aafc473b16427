"""Tokens of a company's own identity provider, over HTTP and MCP alike, as a provider on this machine tells its keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from engramlog_server.ops.identity_provider import ProviderKeys, keys_at
from engramlog_server.projections.access.provider import ProviderRules
from tests.given.access.mcp_http import asking, posted, served, with_agent
from tests.given.access.provider import AUDIENCE, FakeProvider, fake_provider, jwk, token
from tests.given.http import HttpStore, app_of, client_of, created, http_store
from tests.given.mcp import TOOLS, Agent

MEI = [{"verbs": ["read", "produce"], "owners": ["alice"]}]


class Scene:
    """A store, a provider, and who asks both; the clock of the keys is moved by hand."""

    def __init__(self, store: HttpStore, provider: FakeProvider, client: TestClient, keys: ProviderKeys) -> None:
        self.store, self.provider, self.client, self.keys = store, provider, client, keys
        self.seconds = 0.0

    def token(self, **claims: Any) -> str:
        now = self.store.application.log.now() // 1_000_000
        return token(now=now, **({"iss": self.provider.issuer} | claims))

    def status(self, shown: str, path: str = "/v1/owners/alice/memories") -> int:
        return self.client.get(path, headers={"authorization": f"Bearer {shown}"}).status_code


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("identity") / "store") as found:
        found.told("alice", created("coffee", "I drink coffee"))
        found.told("bob", created("tea", "I drink tea"))
        found.application.keys.grant("oidc/mei", grants=MEI)
        yield found


@pytest.fixture
def scene(store: HttpStore) -> Iterator[Scene]:
    with fake_provider() as provider:
        rules = ProviderRules(provider.issuer, AUDIENCE)
        keys = ProviderKeys(rules, lambda: keys_at(provider.issuer), clock=lambda: found.seconds)
        with client_of(app_of(store.application, provider=keys)) as client:
            found = Scene(store, provider, client, keys)
            yield found


def test_a_token_opens_what_its_subject_was_granted_in_this_store_and_no_more(scene: Scene) -> None:
    shown = scene.token(client_id="chat")
    assert scene.status(shown) == 200
    assert scene.status(shown, "/v1/owners/bob/memories") == 403
    assert scene.status(shown, "/v1/status") == 403
    assert scene.status(scene.token(sub="stranger")) == 403
    headers = {"authorization": f"Bearer {shown}"}
    me = scene.client.get("/v1/me", headers=headers).json()
    assert (me["principal"], me["key"], me["token"], me["unlimited"]) == ("oidc/mei", None, "chat", False)
    scene.client.post("/v1/events", json=[created("run", "I run", owner="alice")], headers=headers).raise_for_status()
    said = [one for one in scene.store.application.events.events("alice")["events"] if one["type"] == "MemoryCreated"]
    assert [one["principal"] for one in said if one["data"]["memory_id"] == "run"] == ["oidc/mei"]


def test_what_was_granted_and_is_taken_back_holds_no_more_at_the_next_request(scene: Scene) -> None:
    keys, shown = scene.store.application.keys, scene.token(sub="leaver")
    assert scene.status(shown) == 403
    keys.grant("oidc/leaver", grants=MEI)
    assert scene.status(shown) == 200
    keys.grant("oidc/leaver", grants=[])
    assert scene.status(shown) == 403


def test_no_key_is_made_under_a_name_of_the_provider_s(scene: Scene) -> None:
    answer = scene.client.post("/v1/keys", json={"principal": "oidc/mei", "grants": MEI})
    assert answer.status_code == 422, answer.text
    assert "oidc/" in answer.json()["detail"]


def test_a_token_that_is_none_is_refused_and_the_answer_repeats_nothing_of_it(scene: Scene) -> None:
    for shown in (
        scene.token(aud="https://elsewhere.example"),
        scene.token(iss="https://evil.example"),
        scene.token(exp=1),
        scene.token(number=1, header={"kid": "OKP-0"}),
        scene.token(header={"kid": "../../etc/passwd"}),
        scene.token(padding="x" * 20_000),
    ):
        answer = scene.client.get("/v1/owners/alice/memories", headers={"authorization": f"Bearer {shown}"})
        assert answer.status_code == 401, answer.text
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert shown[:40] not in answer.text
    assert scene.status(scene.token()) == 200


def test_a_rotated_key_is_found_and_a_flood_of_unknown_ids_asks_the_provider_once(scene: Scene) -> None:
    assert scene.status(scene.token()) == 200
    scene.seconds = 40
    scene.provider.tells(jwk("OKP", 1))
    assert scene.status(scene.token(number=1)) == 200
    assert scene.status(scene.token()) == 401
    asked = len(scene.provider.asked)
    for number in range(50):
        assert scene.status(scene.token(header={"kid": f"invented-{number}"})) == 401
    assert len(scene.provider.asked) == asked
    assert scene.status(scene.token(number=1)) == 200


def test_where_the_provider_is_down_known_keys_hold_for_an_hour_and_keys_of_the_store_for_ever(scene: Scene) -> None:
    key = scene.store.application.keys.issue("beside", grants=MEI)["key"]
    assert scene.status(scene.token()) == 200
    scene.provider.sends("/keys", b"", 500)
    scene.seconds = 3_599
    assert scene.status(scene.token()) == 200
    scene.seconds = 3_700
    answer = scene.client.get("/v1/owners/alice/memories", headers={"authorization": f"Bearer {scene.token()}"})
    assert (answer.status_code, answer.json()["error"]) == (503, "IdentityUnavailable")
    assert "retry-after" in answer.headers
    assert scene.status(key) == 200
    assert scene.keys.trouble()
    scene.store.application.keys.revoke(key.split("_")[1])


def test_at_mcp_a_token_opens_the_tools_and_one_for_a_single_owner_s_url_no_other(scene: Scene) -> None:
    scene.store.application.keys.grant("oidc/both", grants=[{"verbs": ["read"], "owners": ["alice", "bob", "团/a"]}])
    build = served(scene.store.application, provider=scene.keys)

    async def looks(agent: Agent) -> None:
        assert {one.name for one in (await agent.client.list_tools()).tools} == TOOLS
        assert (await agent.call("search_memories", query="coffee"))["results"]
        assert "the verb produce" in await agent.refused("add_memory", content="I moved")

    with_agent(build, scene.token(sub="both"), "alice", looks)
    for aud, opens in (
        (AUDIENCE, {"alice", "bob"}),
        (f"{AUDIENCE}/mcp", {"alice", "bob"}),
        (f"{AUDIENCE}/mcp/alice", {"alice"}),
        ([f"{AUDIENCE}/mcp/bob", "https://elsewhere.example"], {"bob"}),
        (f"{AUDIENCE}/mcp/al", set()),
        (f"{AUDIENCE}/mcp/alice/x", set()),
        ("http://127.0.0.1:8734/mcp/alice", set()),
    ):
        shown = scene.token(sub="both", aud=aud)
        assert {
            owner for owner in ("alice", "bob") if posted(build, f"/mcp/{owner}", shown).status_code == 200
        } == opens
    for aud in (f"{AUDIENCE}/mcp/%E5%9B%A2/a", f"{AUDIENCE}/mcp/%E5%9B%A2%2Fa"):
        assert posted(build, "/mcp/%E5%9B%A2%2Fa", scene.token(sub="both", aud=aud)).status_code == 200
    assert scene.status(scene.token(aud=f"{AUDIENCE}/mcp/alice")) == 401, "over HTTP it is for another resource"


def test_a_refusal_at_mcp_says_where_a_token_is_had(scene: Scene) -> None:
    build = served(scene.store.application, provider=scene.keys)
    challenge = posted(build, "/mcp/alice", None).headers["www-authenticate"]
    where = f'{AUDIENCE}/.well-known/oauth-protected-resource/mcp/alice"'
    assert f'resource_metadata="{where}' in challenge
    assert "error=" not in challenge
    assert "scope=" not in challenge
    refused = posted(build, "/mcp/alice", scene.token(exp=1))
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert where in refused.headers["www-authenticate"]
    foreign = posted(build, "/mcp/bob", scene.token())
    assert foreign.status_code == 403
    assert 'error="insufficient_scope"' in foreign.headers["www-authenticate"]
    for path in ("", "/mcp", "/mcp/alice", "/mcp/%E5%9B%A2%2Fa"):
        told = asking(build, lambda client, at=path: client.get(f"/.well-known/oauth-protected-resource{at}"))
        assert told.status_code == 200, told.text
        found = told.json()
        assert (found["resource"], found["authorization_servers"]) == (f"{AUDIENCE}{path}", [scene.provider.issuer])
        assert (found["bearer_methods_supported"], found["resource_name"]) == (["header"], "Engramlog")
    assert asking(build, lambda client: client.get("/.well-known/oauth-protected-resource/v1")).status_code == 404


def test_scopes_are_told_and_narrow_where_the_settings_name_their_claim(scene: Scene) -> None:
    rules = ProviderRules(scene.provider.issuer, AUDIENCE, "scope")
    keys = ProviderKeys(rules, lambda: keys_at(scene.provider.issuer))
    build = served(scene.store.application, provider=keys)

    async def reads_alone(agent: Agent) -> None:
        assert (await agent.call("search_memories", query="coffee"))["results"]
        assert "the verb produce" in await agent.refused("add_memory", content="I moved")

    with_agent(build, scene.token(scope="openid engramlog:read"), "alice", reads_alone)
    refused = posted(build, "/mcp/alice", scene.token(scope="openid"))
    assert refused.status_code == 403
    assert 'scope="engramlog:read engramlog:produce"' in refused.headers["www-authenticate"]
    told = asking(build, lambda client: client.get("/.well-known/oauth-protected-resource/mcp/alice"))
    assert "engramlog:read" in told.json()["scopes_supported"]


def test_an_audience_that_is_no_address_is_compared_as_it_is_and_metadata_name_the_address_that_was_asked(
    scene: Scene,
) -> None:
    keys = ProviderKeys(ProviderRules(scene.provider.issuer, "api://memory"), lambda: keys_at(scene.provider.issuer))
    build = served(scene.store.application, provider=keys)
    assert posted(build, "/mcp/alice", scene.token(aud="api://memory")).status_code == 200
    assert posted(build, "/mcp/alice", scene.token(aud="API://memory")).status_code == 401
    assert posted(build, "/mcp/alice", scene.token(aud="http://127.0.0.1:8734/mcp/alice")).status_code == 401
    told = asking(build, lambda client: client.get("/.well-known/oauth-protected-resource/mcp/alice"))
    assert told.json()["resource"] == "http://127.0.0.1:8734/mcp/alice"
