"""`auto` goes by owner: one model for all of an owner's memories and questions, by the letters that the owner writes in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.jobs.embedding import EmbeddingJob
from engramlog_server.events.errors import BadSetting, EmbedderFailed, InputError
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.embedding.choosing import EmbedderPlan, Embedders
from engramlog_server.projections.embedding.meaning import EmbeddedQuestion
from engramlog_server.projections.redis.vectors import Meanings
from tests.doubles.embedding import WordEmbedder
from tests.given.events import Told, created, deleted, parameters, purged
from tests.given.vectors import Vectors
from tests.integration.live import live_store
from tests.servers import Servers

NOW = "2024-06-01T00:00:00Z"
ENGLISH = ("The kiln broke", "Clay came late", "We missed the fair")
CHINESE = ("窑坏了", "泥土来晚了", "我们错过了集市")


class ByOwner(Vectors):
    """A live store whose owners have the models that a plan gives them; the embedders' model is their name."""

    def choose(self, plan: EmbedderPlan, *, without: str = "") -> None:
        """From here on this counts; as in a process without the model `without`."""
        self.by = {name: WordEmbedder(name) for name in ("minilm", "use", "words:mine")}
        self.loaded: list[str] = []

        def make(name: str) -> WordEmbedder:
            if name == without:
                raise BadSetting(f"the embedder {name} needs a package")
            self.loaded.append(name)
            return self.by[name]

        embedders = Embedders(make, plan)
        self.meanings = Meanings(embedders, self.vectors)
        self.told: list[str] = []
        self.job = EmbeddingJob(self.vectors, embedders, lambda fact, **_facts: self.told.append(fact))
        self.reader = Reader(self.live.log, self.views, None, self.meanings)

    def walk(self, owner: str) -> dict[str, int]:
        return self.job.walk(partition_of(owner, 2))

    def asked(self, owner: str, query: str, **terms: Any) -> dict[str, Any]:
        found = self.reader.search(owner, query, **{"at": NOW, **terms})
        return dict(found["meaning"] or {})

    def coverage(self, owner: str) -> dict[str, Any]:
        with self.views.view(owner) as (view, _):
            return dict(self.meanings.coverage(view, owner))


@pytest.fixture
def store(redis_servers: Servers) -> Iterator[ByOwner]:
    with live_store(redis_servers.get("valkey").url, partitions=2) as live:
        live.start_worker("folder")
        made = ByOwner(live)
        made.choose(EmbedderPlan(None, "auto"))
        yield made
        made.views.close()
        made.vectors.close()


def said(*texts: str, day: float = 0.0, name: str = "m") -> list[Told]:
    return [created(text, f"{name}{number}", day) for number, text in enumerate(texts)]


def test_an_owner_of_half_english_half_chinese_has_one_model_for_all_rows_and_questions(store: ByOwner) -> None:
    store.tell("ada", *said(*ENGLISH, *CHINESE))
    store.tell("bo", *said(*ENGLISH))
    for owner in ("ada", "bo"):
        store.job.carry_out(owner)
    assert (store.vectors.models_of("ada"), store.vectors.models_of("bo")) == (["use"], ["minilm"])
    for query in ("kiln", "窑坏了"):
        assert store.asked("ada", query) == {"model": "use", "embedded": 6, "of": 6}
    assert store.asked("bo", "kiln") == {"model": "minilm", "embedded": 3, "of": 3}
    assert store.by["minilm"].questions == ["kiln"]
    assert store.by["use"].questions == ["kiln", "窑坏了"]
    told = store.coverage("ada")
    assert (told["model"], told["chosen"], told["chosen_by"], told["share"]) == ("use", "auto", "store", 1.0)


def test_who_begins_in_english_and_then_writes_chinese_is_embedded_again_by_the_question(store: ByOwner) -> None:
    store.tell("ada", *said(*ENGLISH))
    store.walk("ada")
    assert store.asked("ada", "kiln")["model"] == "minilm"
    store.tell("ada", *said(*CHINESE, day=1, name="zh"))
    assert (store.coverage("ada")["model"], store.coverage("ada")["share"]) == ("use", 0.0)
    assert store.asked("ada", "kiln") == {"model": "use", "embedded": 6, "of": 6}
    assert store.vectors.models_of("ada") == ["minilm", "use"]  # going back costs nothing
    assert store.walk("ada")["embedded"] == 0


def test_deleting_the_chinese_changes_nothing_until_it_is_purged(store: ByOwner) -> None:
    store.tell("ada", *said(*ENGLISH), created("窑坏了", "zh"))
    store.walk("ada")
    store.tell("ada", deleted("zh", day=1))
    assert store.coverage("ada")["model"] == "use"  # it may be restored
    store.tell("ada", purged("zh", day=40))
    assert store.coverage("ada")["model"] == "minilm"
    assert store.walk("ada")["embedded"] == 3
    assert store.asked("ada", "kiln") == {"model": "minilm", "embedded": 3, "of": 3}
    assert store.fields("ada") == store.named(*ENGLISH)  # under both models


def test_what_is_purged_leaves_no_vector_under_the_former_model_either(store: ByOwner) -> None:
    store.tell("ada", *said(*ENGLISH))
    store.walk("ada")
    store.tell("ada", *said(*CHINESE, day=1, name="zh"))
    store.walk("ada")
    store.tell("ada", deleted("m0", day=2), purged("m0", day=40))
    assert store.walk("ada")["dropped"] == 2
    assert store.fields("ada") == store.named(*ENGLISH[1:], *CHINESE)
    assert store.live.differences() == []


def test_a_repeated_text_that_tips_the_scale_is_noticed_by_the_job_too(store: ByOwner) -> None:
    store.tell("ada", *said(*(f"Shelf number {n} is dusted" for n in range(9))), created("窑坏了", "zh"))
    store.walk("ada")
    assert store.coverage("ada")["model"] == "use"
    store.tell("ada", created("Shelf number 3 is dusted", "again", 1))
    assert store.coverage("ada")["model"] == "minilm"
    assert store.walk("ada")["embedded"] == 10
    assert store.coverage("ada")["share"] == 1.0


def test_the_past_is_compared_by_the_model_of_its_letters(store: ByOwner) -> None:
    store.tell("ada", *said(*ENGLISH))
    store.walk("ada")
    then = store.reader.search("ada", "kiln", at=NOW)["position"]
    store.tell("ada", *said(*CHINESE, day=1, name="zh"))
    store.walk("ada")
    for line in ("as_of", "known"):
        assert store.asked("ada", "kiln", **{line: then}) == {"model": "minilm", "embedded": 3, "of": 3}
    assert store.asked("ada", "kiln")["model"] == "use"


def test_an_owner_s_own_parameter_counts_from_its_time_on(store: ByOwner) -> None:
    store.tell("ada", *said(*ENGLISH))
    store.walk("ada")
    then = store.reader.search("ada", "kiln", at=NOW)["position"]
    store.tell("ada", parameters(1, embedder="use"))
    assert store.walk("ada")["embedded"] == 3
    told = store.coverage("ada")
    assert (told["model"], told["chosen"], told["chosen_by"]) == ("use", "use", "owner")
    assert store.asked("ada", "kiln", as_of=then)["model"] == "minilm"
    store.tell("ada", parameters(2, embedder="none"))
    assert store.asked("ada", "kiln") == {}
    with pytest.raises(InputError, match="no embedder counts here"):
        store.asked("ada", "kiln", search_mode="semantic")
    store.tell("ada", parameters(3, embedder="store"))
    assert store.asked("ada", "kiln") == {"model": "minilm", "embedded": 3, "of": 3}
    assert store.walk("ada")["embedded"] == 0


def test_an_owner_chooses_where_the_store_compares_nothing(store: ByOwner) -> None:
    store.choose(EmbedderPlan(None, "none"))
    store.tell("ada", *said(*ENGLISH), parameters(1, embedder="auto"))
    store.tell("bo", *said(*ENGLISH))
    for owner in ("ada", "bo"):
        store.walk(owner)
    assert (store.vectors.models_of("ada"), store.vectors.models_of("bo")) == (["minilm"], [])
    assert store.asked("ada", "kiln")["embedded"] == 3
    assert store.asked("bo", "kiln") == {}
    assert store.live.differences() == []


@pytest.mark.parametrize("name", ["openai:text-embedding-3-small", "os:system"])
def test_no_parameter_alone_sends_contents_anywhere_or_imports_anything(store: ByOwner, name: str) -> None:
    store.tell("ada", *said(*ENGLISH), parameters(1, embedder=name))
    store.walk("ada")
    assert store.told == ["owner not embedded"]
    assert name not in store.loaded
    assert "not set to use it" in store.asked("ada", "kiln")["failed"]
    assert store.reader.search("ada", "kiln", at=NOW)["results"][0]["id"] == "m0"
    told = store.coverage("ada")
    assert (told["model"], told["chosen"], "not set to use it" in told["failed"]) == (None, name, True)
    with pytest.raises(BadSetting, match="ENGRAMLOG_EMBEDDER"):
        store.asked("ada", "kiln", search_mode="semantic")


def test_a_process_that_lacks_a_model_says_so_and_serves_the_owners_of_the_other(store: ByOwner) -> None:
    store.tell("ada", *said(*CHINESE))
    store.tell("bo", *said(*ENGLISH))
    store.choose(EmbedderPlan(None, "auto"), without="use")
    for owner in ("ada", "bo"):
        store.walk(owner)
    assert store.told == ["owner not embedded"]
    assert store.asked("ada", "窑") == {"failed": "the embedder use needs a package"}
    assert store.asked("bo", "kiln")["embedded"] == 3
    assert store.walk("ada")["owners"] == 0  # it is not told each minute
    store.choose(EmbedderPlan(None, "auto"))
    assert store.walk("ada")["embedded"] == 3  # by a process that has it


def test_a_model_that_is_down_stops_no_owner_of_another(store: ByOwner, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = [owner for n in range(40) if partition_of(owner := f"owner-{n}", 2) == 0][:12]
    for number, owner in enumerate(owners):
        store.tell(owner, *said(*(CHINESE if number % 2 else ENGLISH)))
    store.by["use"].down = True
    with pytest.raises(EmbedderFailed):
        store.job.walk(0)
    assert {owner for owner in owners if store.coverage(owner)["share"] == 1.0} == set(owners[::2])
    store.by["use"].down = False
    store.job.walk(0)
    assert all(store.coverage(owner)["share"] == 1.0 for owner in owners)

    def refuses(_text: str) -> EmbeddedQuestion:
        raise EmbedderFailed("no answer")

    monkeypatch.setattr(store.by["use"], "question", refuses)
    assert store.asked(owners[1], "窑坏了") == {"failed": "no answer"}
    assert store.asked(owners[0], "kiln")["embedded"] == 3  # it rests by itself


@pytest.mark.parametrize("own", ["none", "minilm"])
def test_an_endpoint_is_given_no_question_of_an_owner_who_chose_something_else(store: ByOwner, own: str) -> None:
    store.choose(EmbedderPlan("openai:m", "none"))
    endpoint = store.by["openai:m"] = WordEmbedder("openai:m")
    store.tell("ada", *said(*ENGLISH))
    store.walk("ada")
    assert store.asked("ada", "kiln")["model"] == "openai:m"
    then = store.reader.search("ada", "kiln", at=NOW)["position"]
    asked = list(endpoint.questions)
    store.tell("ada", parameters(1, embedder=own))
    store.tell("bo", *said(*ENGLISH), parameters(1, embedder=own))
    for owner in ("ada", "bo"):
        store.walk(owner)
        for query in ("clay", "fair"):
            store.asked(owner, query)
    assert endpoint.questions == asked
    assert store.asked("ada", "kiln", as_of=then)["model"] == "openai:m"
