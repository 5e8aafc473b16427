"""Suggestions in a real store, with a real model: they wait in the inbox, and a person's answer is what is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engramlog.answers import Cleaned, InboxPage
from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.consumers.jobs.reviewing import Reviewer, ReviewJob
from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.projections.shapes import InboxItem
from tests.acceptance.helpers.store import Store, embedded_store
from tests.given.events import created
from tests.given.shaped import checked

JOB = ("suggest",)
OTHERS = ("User drives a red van to work", "User reads before going to bed", "User has two cats and a parrot")
SHORT, FULL = "User is 44", "User is 44 years old"
SIGNED, KEEN = "Melanie signed up for a pottery class yesterday", "Melanie is a big fan of pottery"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("suggestions")
    with embedded_store(path, embedder="minilm") as store:
        yield store


@pytest.fixture
def store(opened: Store) -> Store:
    return opened


def say(store: Store, *texts: str) -> str:
    """An owner who said this and other things, with the vectors of all of it."""
    owner, day = store.owner(), store.yesterday
    told = (*texts, *OTHERS)
    store.tell(owner, *(created(text, f"m{n}", day - 9 + n, kind="fact") for n, text in enumerate(told)))
    assert store.app.embeddings.embed(owner)["left"] == 0
    return owner


def waiting(store: Store, owner: str) -> list[InboxItem]:
    page = store.app.inbox.page(owner)
    checked(InboxPage, page)
    return page["items"]


def suggested(store: Store, *texts: str) -> tuple[str, InboxItem]:
    owner = say(store, *texts)
    assert store.app.cleaner.clean(owner, jobs=JOB)["counts"] == {"suggest": 1}
    [item] = waiting(store, owner)
    return owner, item


def test_a_dry_run_tells_it_and_a_run_makes_it_once(store: Store) -> None:
    owner = say(store, SHORT, FULL)
    before = store.head(owner)
    foreseen = store.app.cleaner.clean(owner, jobs=JOB, dry_run=True)
    assert (foreseen["counts"], store.head(owner)) == ({"suggest": 1}, before)
    done = store.app.cleaner.clean(owner, jobs=JOB)
    assert done["decisions"] == foreseen["decisions"]
    assert store.app.cleaner.clean(owner, jobs=JOB)["decisions"] == []
    assert store.app.cleaner.clean(owner)["decisions"] == []
    assert store.listed(owner) == {f"m{n}" for n in range(5)}


def test_a_merge_is_told_with_its_words_and_done_once_it_is_accepted(store: Store) -> None:
    owner, item = suggested(store, SHORT, FULL)
    assert (item["kind"], item["about"], item["would_say"]) == ("suggested_merge", ["m0", "m1"], FULL)
    done = store.app.inbox.accept(owner, item["item"], key="yes")
    assert store.app.inbox.accept(owner, item["item"], key="yes")["changes"] == done["changes"]
    found = {one["memory"] for one in store.reader.list(owner)["memories"]}
    assert found == {FULL, *OTHERS}
    assert waiting(store, owner) == []
    assert store.app.cleaner.clean(owner, jobs=JOB)["decisions"] == []


def test_a_merge_in_his_own_words_says_these(store: Store) -> None:
    owner, item = suggested(store, SHORT, FULL)
    store.app.inbox.edit(owner, item["item"], "User turned 44 this year")
    assert {one["memory"] for one in store.reader.list(owner)["memories"]} == {"User turned 44 this year", *OTHERS}


def test_an_accepted_link_is_an_association_and_has_no_words(store: Store) -> None:
    owner, item = suggested(store, SIGNED, KEEN)
    assert (item["kind"], item["about"], item["would_say"]) == ("suggested_link", ["m0", "m1"], None)
    with pytest.raises(InputError):
        store.app.inbox.edit(owner, item["item"], "anything")
    store.app.inbox.accept(owner, item["item"])
    assert [one["to"] for one in store.reader.get(owner, "m0")["edges"]] == ["m1"]
    assert store.listed(owner) == {f"m{n}" for n in range(5)}


@pytest.mark.parametrize(
    ("texts", "event"), [((SHORT, FULL), "MemoryMerged"), ((SIGNED, KEEN), "MemoriesLinked")], ids=["merge", "link"]
)
def test_what_another_merge_overtook_is_not_told_as_done(
    store: Store, texts: tuple[str, str], event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, item = suggested(store, *texts)
    writer = store.app.writer
    decide = writer._events_of

    def overtaken(*given: Any) -> Any:
        """What the person answers was looked at; before it is appended, one of the two is merged with a third."""
        monkeypatch.undo()
        writer.merge(owner, ["m0", "m2"], summary="Both in other words")
        return decide(*given)

    monkeypatch.setattr(writer, "_events_of", overtaken)
    answered = store.app.inbox.accept(owner, item["item"], key="yes")
    decided = {(one["event"], one["decision"]) for one in answered["changes"]}
    assert (event, "ignored") in decided
    assert ("MemoryDeleted", "delete") in decided
    told = ("dismissed", "the suggestion is gone, and nothing else changed")
    assert (answered["done_code"], answered["done"]) == told
    again = store.app.inbox.accept(owner, item["item"], key="yes")
    assert (again["done_code"], again["done"]) == told


def test_what_is_rejected_is_not_asked_again_and_keeps_no_value_out(store: Store) -> None:
    owner, item = suggested(store, SIGNED, KEEN)
    store.app.inbox.reject(owner, item["item"])
    assert waiting(store, owner) == []
    assert store.app.cleaner.clean(owner, jobs=JOB)["decisions"] == []
    assert not store.reader.get(owner, "m0")["edges"]
    assert store.listed(owner) == {f"m{n}" for n in range(5)}


def test_it_goes_with_each_of_the_two(store: Store) -> None:
    owner, item = suggested(store, SIGNED, KEEN)
    store.delete(owner, "m0")
    assert waiting(store, owner) == []
    with pytest.raises(NotFound):
        store.app.inbox.accept(owner, item["item"])


def test_search_in_normal_mode_never_tells_it(store: Store) -> None:
    owner, item = suggested(store, SIGNED, KEEN)
    assert item["item"] not in store.found(owner, "pottery belongs together")
    assert item["item"] in store.found(owner, "pottery belongs together", mode="review")


def test_without_an_embedder_it_is_refused_in_words(tmp_path: Path) -> None:
    with embedded_store(tmp_path) as bare:
        owner = bare.owner()
        bare.tell(owner, created(SHORT, "m0", 0), created(FULL, "m1", 1))
        with pytest.raises(InputError, match="embedder") as refused:
            bare.app.cleaner.clean(owner, jobs=JOB)
        assert refused.value.context["field"] == "jobs"


def test_what_the_model_cannot_read_is_compared_with_nothing(store: Store) -> None:
    owner = say(store, "用户会弹吉他", "用户会弹吉他和钢琴", "用户最近去了厦门", "用户喜欢鼓浪屿")
    run = store.app.cleaner.clean(owner, jobs=JOB)
    checked(Cleaned, run)
    assert run["decisions"] == []
    assert run["compared"]["statements"] == {"compared": 3, "without_vector": 0, "unread": 4, "older": 0}


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_has_no_vector_is_told_of_one_owner_and_of_all(store: Store, dry_run: bool) -> None:
    owner = say(store, SHORT)
    store.tell(owner, created("User plays chess on Sundays", "later", store.yesterday, kind="fact"))
    run = store.app.cleaner.clean(owner, jobs=JOB, dry_run=dry_run)
    assert run["compared"]["statements"] == {"compared": 4, "without_vector": 1, "unread": 0, "older": 0}
    assert run["compared"]["model"] == "all-MiniLM-L6-v2"
    everybody = store.app.cleaner.clean_all(jobs=JOB, dry_run=True)
    assert everybody["compared"]["statements"]["without_vector"] >= 1
    assert everybody["compared"]["owners"] >= everybody["compared"]["in_part"] >= 1
    assert store.app.cleaner.clean(owner)["compared"] is None
    assert store.app.cleaner.clean_all(dry_run=True)["compared"] is None


def test_beside_a_reviewer_a_dry_run_tells_what_would_be_suggested(store: Store) -> None:
    owner = say(store, SHORT, FULL)
    lifecycle = store.app.cleaner._lifecycle
    assert isinstance(lifecycle, LifecycleJobs)

    def nobody() -> Reviewer:
        raise AssertionError("a dry run asks nothing")

    run = ReviewJob(lifecycle, nobody, "model").plan(owner, ("sweep", "review", *JOB))
    assert [one.action for one in run.decisions] == ["suggest"]
    assert run.as_dict()["compared"]["statements"]["compared"] == 5


def test_what_one_of_the_two_says_is_withheld_at_once_where_it_became_secret(store: Store) -> None:
    owner, item = suggested(store, SIGNED, KEEN)
    store.app.writer.set_sensitivity(owner, "m0", 3, reason="it is nobody's business")
    [told] = waiting(store, owner)
    assert told["item"] == item["item"]
    assert "pottery" not in str(told)
    assert store.app.cleaner.clean(owner, jobs=JOB)["counts"] == {"delete": 1}
    assert waiting(store, owner) == []
