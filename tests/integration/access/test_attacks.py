"""What somebody with a key tries beside asking for what is another's: to be told of it, to be trusted more, to fill the log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest

from engramlog_server.api.services.keys import DENIED_SECONDS, EACH_WINDOW, MOST_STALE, AccessFollower, Reads
from engramlog_server.api.services.writing import Writer
from engramlog_server.events.errors import StoreError, StoreUnavailable
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.access.caller import Caller
from tests.given.access import everybody as given
from tests.given.access.everybody import FOREIGN
from tests.given.http import HttpStore, created, http_store


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("attacks")) as opened:
        opened.told(FOREIGN, *given.history_of(FOREIGN, "I keep a hedgehog named Zuleika"))
        yield opened


def post(http: HttpStore, key: str, path: str, body: Any) -> Any:
    return http.client.post(path, json=body, headers={"authorization": f"Bearer {key}"})


def get(http: HttpStore, key: str, path: str, **query: Any) -> Any:
    return http.client.get(path, params=query, headers={"authorization": f"Bearer {key}"})


def test_who_lists_owners_is_told_of_his_own_and_counts_no_other(http: HttpStore) -> None:
    for name in ("team/a", "team/b", "teams", "team", FOREIGN + "/x"):
        http.told(name, created("m", owner=name))
    key = given.issued(http, "lister", "read", owners=["team/*"])
    whole = get(http, key, "/v1/owners").json()
    assert ([one["owner"] for one in whole["owners"]], whole["matching"]) == (["team/a", "team/b"], 2)
    page = get(http, key, "/v1/owners", limit=1).json()
    assert (page["matching"], page["next"]) == (2, "team/a")
    for asked in ({"prefix": FOREIGN}, {"search": "zo"}, {"after": "team/b"}, {"prefix": ":"}):
        told = get(http, key, "/v1/owners", **asked).json()
        assert told["owners"] == [], asked
        assert told["next"] is None
    assert get(http, key, "/v1/owners", among="x").status_code == 422


def test_an_answer_is_the_same_whether_an_owner_is_there_or_not(http: HttpStore) -> None:
    key = given.issued(http, "prober", "read", owners=["mine"])

    def told(owner: str) -> str:
        return str(get(http, key, f"/v1/owners/{owner}/memories").text)

    assert told(FOREIGN).replace(FOREIGN, "-") == told("nobody").replace("nobody", "-")


def test_who_produces_alone_is_not_told_what_is_known_already(http: HttpStore) -> None:
    said, contradicts = "I like tea", "I hate tea"
    found = {}
    for name, verbs in (("produces", ["produce"]), ("reads-too", ["produce", "read"])):
        http.told(name, created("tea", said, owner=name))
        key = given.issued(http, name, *verbs, owners=[name])
        answers = [
            post(http, key, f"/v1/owners/{name}/memories", {"content": contradicts, "memory_id": "other"}),
            post(http, key, "/v1/events?judge=true", [created("raw", f"{contradicts} now", owner=name)]),
        ]
        assert [one.status_code for one in answers] == [200, 200], answers[0].text
        found[name] = said in "".join(one.text for one in answers)
    assert found == {"produces": False, "reads-too": True}


def test_an_idempotency_key_of_another_owner_answers_nothing_of_his(http: HttpStore) -> None:
    told = {"content": "Zuleika likes apples", "key": "one-key-of-many"}
    assert http.client.post(f"/v1/owners/{FOREIGN}/memories", json=told).status_code == 200
    key = given.issued(http, "same-key", "produce", "read", owners=["mine"])
    answer = post(http, key, "/v1/owners/mine/memories", {"content": "I row", "key": "one-key-of-many"})
    assert (answer.status_code, answer.json()["created"]) == (200, True)
    assert "Zuleika" not in answer.text
    assert post(http, key, f"/v1/owners/{FOREIGN}/memories", told).status_code == 403


def test_a_batch_with_one_event_of_another_is_refused_whole_and_tells_no_head(http: HttpStore) -> None:
    key = given.issued(http, "batch", "produce", owners=["mine"])
    mine, theirs = created("a", owner="mine"), created("b", owner=FOREIGN)
    heads = [http.application.log.owner_head(one) for one in ("mine", FOREIGN)]
    for body in ([mine, theirs], [theirs], {"events": [mine, theirs], "expected_heads": {FOREIGN: 999}}):
        answer = post(http, key, "/v1/events", body)
        assert answer.status_code == 403, answer.text
        assert "receipts" not in answer.text
    named = post(http, key, "/v1/events", {"events": [mine], "expected_heads": {FOREIGN: 999}})
    assert named.status_code == 422
    assert "head" not in named.text.replace("expected_heads", "")
    assert [http.application.log.owner_head(one) for one in ("mine", FOREIGN)] == heads


def test_the_id_of_another_s_event_is_as_good_as_new(http: HttpStore) -> None:
    there = http.client.get(f"/v1/owners/{FOREIGN}/events").json()["events"][0]
    key = given.issued(http, "same-id", "produce", owners=["mine"])
    answer = post(http, key, "/v1/events", [created("c", owner="mine") | {"event_id": there["event_id"]}])
    assert (answer.status_code, answer.json()["appended"]) == (200, 1)


@pytest.mark.parametrize("kind", ["events", "records", "chats", "memories"])
def test_a_word_goes_no_farther_than_the_grants_say_by_whichever_door(http: HttpStore, kind: str) -> None:
    owner = f"proposed-{kind}"
    key = given.issued(http, owner, "produce", owners=[owner], trust="proposed")
    path, said = f"/v1/owners/{owner}", "I sail on Sundays"
    bodies = {
        "events": ("/v1/events", [created("e", said, owner=owner)]),
        "records": (f"{path}/import/records", [{"id": "r", "content": said, "created_at": "2026-01-05T08:00:00Z"}]),
        "chats": (
            f"{path}/chats",
            [{"id": "c", "created_at": "2026-01-05T08:00:00Z", "messages": [{"role": "user", "content": said}]}],
        ),
        "memories": (f"{path}/memories", {"content": said}),
    }
    assert post(http, key, *bodies[kind]).status_code in (200, 207)
    events = http.client.get(f"{path}/events").json()["events"]
    assert events
    assert {one["trust"] for one in events if one["type"] != "MemoriesAccessed"} == {"proposed"}
    assert {one["principal"] for one in events} == {owner}


@pytest.mark.parametrize("kind", ["records", "chats"])
def test_who_may_speak_for_an_assistant_alone_imports_no_word_of_a_user(http: HttpStore, kind: str) -> None:
    key = given.issued(http, f"assistants-{kind}", "produce", owners=["mine"], actors=["assistant"])
    route = f"POST {given.OWNER}/{'import/records' if kind == 'records' else kind}"
    assert post(http, key, route.split()[1].format(owner="mine"), given.ROUTES[route].body).status_code == 403


def test_refusals_grow_the_log_by_a_few_a_second_however_many_and_various(http: HttpStore) -> None:
    now, log = [0.0], http.application.log
    reads = Reads(log, http.application.writer, http.application.events, lambda: now[0])
    caller = Caller("flooder", ((),), "aaaaaaaa", "one of many")

    def told() -> int:
        return sum(log.head(number) for number in range(log.partitions))

    before, seconds = told(), 400.0
    for number in range(20_000):
        now[0] += seconds / 20_000
        reads.record(caller, "denied", "reader.list", f"o{number % 1_500}")
    assert 0 < told() - before <= (EACH_WINDOW + 2) * (seconds / DENIED_SECONDS + 1)
    page = reads.reads(limit=1000)["reads"]
    assert sum(one["times"] for one in page if one["call"] == "any") > 10_000, "they are counted all the same"


def test_a_key_that_is_over_is_told_once_however_often_and_long_it_is_shown(http: HttpStore) -> None:
    now, log = [0.0], http.application.log
    reads = Reads(log, http.application.writer, http.application.events, lambda: now[0])
    before = log.head(partition_of(":reads", log.partitions))
    for number in range(200):
        now[0] += DENIED_SECONDS
        reads.record_over(Caller("gone", ((),), "bbbbbbbb", f"token {number}"), "a key that is over")
    reads.flush()
    assert log.head(partition_of(":reads", log.partitions)) - before == 1


def test_refusals_that_the_store_does_not_take_are_logged_and_recorded_later(
    http: HttpStore, caplog: pytest.LogCaptureFixture
) -> None:
    now, application = [0.0], http.application
    full = [True]

    class Filling:
        def append_all(self, events: Sequence[Any]) -> list[AppendReceipt]:
            if full[0]:
                raise StoreError("the store is full")
            return application.writer.append_all(events)

    reads = Reads(application.log, cast("Writer", Filling()), application.events, lambda: now[0])
    caller = Caller("unheard", ((),), "cccccccc", "a token")
    for _ in range(3):
        reads.record(caller, "denied", "reader.list", "o1")
    assert "1 refused read not recorded yet: the store is full" in caplog.text
    full[0] = False
    reads.flush()
    assert [one["times"] for one in reads.reads(limit=1000)["reads"] if one["principal"] == "unheard"] == [3]


def test_two_admins_at_once_lose_nothing(http: HttpStore) -> None:
    keys, failed = http.application.keys, list[BaseException]()

    def issue(name: str) -> None:
        try:
            for number in range(8):
                keys.issue(f"{name}-{number}", grants=[given.grant("read", owners=[name])])
        except BaseException as error:
            failed.append(error)

    admins = [Thread(target=issue, args=(f"admin{one}",)) for one in range(3)]
    for one in admins:
        one.start()
    for one in admins:
        one.join()
    assert failed == []
    book = AccessFollower(http.application.log).book()
    wanted = {f"admin{one}-{number}" for one in range(3) for number in range(8)}
    assert {one.principal for one in book.keys.values()} >= wanted
    assert all(book.grants[name] for name in wanted)
    assert book == http.application.access_follower.book(), "folded anew it is the same"


def test_without_the_log_no_key_is_admitted_after_a_second_and_the_folder_s_token_is(tmp_path: Path) -> None:
    with http_store(tmp_path, worker=False) as http:
        now = [0.0]
        follower = AccessFollower(http.application.log, lambda: now[0])
        key = http.application.keys.issue("somebody", grants=[given.grant("read", owners=["mine"])])
        assert follower.book().keys.keys() == {key["key_id"]}
        assert http.store.embedded is not None
        http.store.embedded.close()
        assert follower.book().keys, "for a second it is as it was"
        now[0] += MOST_STALE
        with pytest.raises(StoreUnavailable):
            follower.book()
        assert get(http, key["key"], "/v1/schema").status_code in (200, 503)
        assert http.client.get("/v1/schema").status_code == 200, "the folder's token asks nothing of the log"


def test_json_that_no_grant_can_be_is_refused(http: HttpStore) -> None:
    admin = given.whole(http, "admin-of-bad-grants")
    for bad in (10**30, -1, 4):
        grants = [{"verbs": ["read"], "owners": ["x"], "sensitivity": bad}]
        assert post(http, admin, "/v1/grants", {"principal": "p", "grants": grants}).status_code == 422, bad
    for owners in (
        ["a/*/*"],
        ["*x"],
        ["/*"],
        [":access"],
        [":*"],
        ["a*"],
        ["**"],
        ["e\u0301"],
        [""],
        ["x" * 200],
        ["a", "a"],
    ):
        grants = [{"verbs": ["read"], "owners": owners}]
        answer = post(http, admin, "/v1/grants", {"principal": "p", "grants": grants})
        assert answer.status_code == 422, owners
    raw = json.dumps({"principal": "p", "grants": [{"verbs": ["read"], "owners": ["\ud800"]}]})
    answer = http.client.post("/v1/grants", content=raw, headers={"content-type": "application/json"})
    assert answer.status_code == 422
