"""Questions in other words over a real store and a scripted endpoint: what is sent, what is told, and what never leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from events.errors import InputError, NotYetFolded
from projections.models.expander import Expander, ExpansionBounds
from projections.ranking.parts.in_parts import OWN
from projections.ranking.senses import MeantQuestion, ViewHeld
from tests.acceptance.helpers.store import Store, embedded_store
from tests.doubles.model_endpoint import SILENT, ModelEndpoint, model_endpoint
from tests.doubles.scripted import Reply
from tests.given.events import created, parameters
from tests.given.said import said
from tests.patience import PATIENCE

TERMS = ["boxes new flat", "removal van"]
QUESTION = "When did Caroline move house?"
TALK = [f"Caroline and I talked about the house, round {number}" for number in range(14)]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        yield running


@pytest.fixture(scope="module")
def opened(endpoint: ModelEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    told = {"model": "small", "model_url": endpoint.url, "expansion": "model"}
    with embedded_store(tmp_path_factory.mktemp("expansion") / "data", **told) as store:
        yield store


@pytest.fixture
def server(endpoint: ModelEndpoint) -> ModelEndpoint:
    endpoint.asked.clear()
    endpoint.replies = []
    endpoint.says({"terms": TERMS})
    return endpoint


@pytest.fixture
def store(opened: Store, server: ModelEndpoint) -> Store:
    """The store with an expander of the test's own: what hangs in another's holds nobody here."""
    app: Any = opened.app
    made = app._model.other_words._replace(bounds=ExpansionBounds(PATIENCE, 600))
    app._expander = opened.reader._expander = made.expander(app._note_asked, lambda *_fact, **_facts: None)
    return opened


def expander(store: Store) -> Expander:
    found = store.app._expander
    assert found is not None
    return found


def mover(store: Store) -> str:
    """An owner who told of a removal in other words than people ask for it."""
    owner = store.owner()
    texts = [*TALK, "We carried the boxes into the new flat", "The removal van was late again"]
    store.tell(owner, *(created(text, f"m{number}", store.yesterday) for number, text in enumerate(texts)))
    return owner


def asked(store: Store, owner: str, query: str = QUESTION, **how: Any) -> dict[str, Any]:
    answer: Any = store.reader.search(owner, query, **{"limit": 10, "trace": False} | how)
    return dict(answer)


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["results"]]


def test_the_answer_tells_the_words_the_model_and_what_they_brought(store: Store) -> None:
    answer = asked(store, mover(store))
    assert answer["understood"]["expansion"] == {"status": "asked", "terms": TERMS, "model": "small"}
    assert ids(answer)[-2:] == ["m14", "m15"]
    assert [one["explain"]["asked_by"] for one in answer["results"][-2:]] == [[TERMS[0]], [TERMS[1]]]


@pytest.mark.parametrize("how", [{"search_mode": "keyword"}, {"ranking": "text"}, {"ranking": "published"}])
def test_exact_words_and_other_rankings_give_no_model_the_question(
    store: Store, server: ModelEndpoint, how: dict[str, str]
) -> None:
    owner = mover(store)
    assert "expansion" not in asked(store, owner, **how)["understood"]
    assert server.asked == []


@pytest.mark.parametrize(
    "query",
    [
        "What is my password hunter2hunter2 for?",
        "Who lives at 12 Baker Street, London NW1 6XE?",
        "Whose number is +49 30 12345678?",
        "我的密码是 hunter2hunter2 吗？",
        "Whose is the card 4111 1111\n1111 1111?",
        "谁的电话 138\n1234\n5678？",
        "What is AKIA\nIOSFODNN7EXAMPLE for?",
    ],
)
def test_what_looks_like_a_secret_or_is_sensitive_never_goes(store: Store, server: ModelEndpoint, query: str) -> None:
    owner = mover(store)
    assert asked(store, owner, query)["understood"]["expansion"]["status"] == "private"
    assert server.asked == []


def test_an_owner_may_forbid_it_and_allow_it_again(store: Store, server: ModelEndpoint) -> None:
    owner = mover(store)
    store.tell(owner, parameters(expansion=False))
    assert asked(store, owner)["understood"]["expansion"] == {"status": "off", "terms": [], "model": "small"}
    assert server.asked == []
    store.tell(owner, parameters(expansion=True))
    assert asked(store, owner)["understood"]["expansion"]["status"] == "asked"


@pytest.fixture
def forbidden(store: Store) -> Iterator[tuple[str, str]]:
    """An owner whose wish that nothing be asked is appended and not folded, and its position."""
    owner = mover(store)
    receipts = store.writer.append_all([store.prepared(owner, parameters(expansion=False))])
    assert receipts[0].position is not None
    yield owner, receipts[0].position
    store.writer.settle(receipts)


def test_a_question_after_the_owner_forbade_it_stays_here_though_that_is_not_folded_yet(
    store: Store, server: ModelEndpoint, forbidden: tuple[str, str]
) -> None:
    owner, position = forbidden
    with pytest.raises(NotYetFolded):
        asked(store, owner, after=position)
    assert server.asked == []


def test_which_embedder_may_be_asked_is_read_after_what_the_question_waits_for(
    store: Store, forbidden: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asks:
        def ask(self, _owner: str, _question: MeantQuestion, parameter: Callable[[], str], _view: ViewHeld) -> None:
            parameter()

    monkeypatch.setattr(store.reader, "_meanings", Asks())
    owner, position = forbidden
    store.reader.question_of(owner, QUESTION, {})
    with pytest.raises(NotYetFolded):
        store.reader.question_of(owner, QUESTION, {}, after=position)


@pytest.mark.parametrize("limit", [1, 5, OWN])
def test_no_model_is_asked_for_places_that_its_words_may_not_take(
    store: Store, server: ModelEndpoint, limit: int
) -> None:
    owner = mover(store)
    first = asked(store, owner, limit=limit)
    second = asked(store, owner, limit=limit, cursor=first["next"])
    assert [one for one in (first, second) if "expansion" in one["understood"]] == []
    assert server.asked == []
    assert asked(store, owner, limit=OWN + 1)["understood"]["expansion"]["status"] == "asked"


def test_who_asks_is_told_neither_the_endpoint_nor_a_setting_and_the_operator_is(
    store: Store, server: ModelEndpoint
) -> None:
    server.replies = [Reply(status=401, body={"error": "x"})]
    told = asked(store, mover(store))["understood"]["expansion"]
    assert (told["status"], told["why"]) == ("failed", "the model does not answer")
    models: Any = store.app.model_uses.models()
    assert server.url.split("/")[2] in models["expansion"]["failing"]


def test_what_was_kept_before_the_owner_forbade_it_is_of_no_use_after(store: Store) -> None:
    owner = mover(store)
    assert asked(store, owner)["understood"]["expansion"]["terms"] == TERMS
    store.tell(owner, parameters(expansion=False))
    assert asked(store, owner)["understood"]["expansion"]["terms"] == []


@pytest.mark.parametrize("line", ["as_of", "known", "at"])
def test_a_question_about_the_past_is_answered_as_it_was_though_the_words_are_kept(
    store: Store, server: ModelEndpoint, line: str
) -> None:
    owner = mover(store)
    present = asked(store, owner)
    server.asked.clear()
    when = {"at": "2030-01-01T00:00:00Z"}.get(line, present["position"])
    then = asked(store, owner, **{line: when})
    assert then["understood"]["expansion"]["status"] == "past"
    assert not any("asked_by" in one["explain"] for one in then["results"])
    assert server.asked == []


def test_pages_of_one_widened_question_repeat_nothing_and_skip_nothing(store: Store) -> None:
    owner = mover(store)
    whole = ids(asked(store, owner, limit=16))
    assert set(whole[8:10]) == {"m14", "m15"}
    first = asked(store, owner, limit=9)
    second = asked(store, owner, limit=4, cursor=first["next"])
    third = asked(store, owner, limit=4, cursor=second["next"])
    assert ids(first) + ids(second) + ids(third) == whole


def test_a_page_whose_words_are_gone_is_refused_and_says_so(store: Store, server: ModelEndpoint) -> None:
    owner = mover(store)
    first = asked(store, owner, limit=9)
    expander(store).forget()
    server.replies = []
    server.says({"terms": ["something else"]})
    with pytest.raises(InputError, match="other words for the question are gone; begin again"):
        asked(store, owner, limit=9, cursor=first["next"])


def test_the_pages_of_a_question_that_was_not_widened_are_not_either(store: Store, server: ModelEndpoint) -> None:
    owner = mover(store)
    server.replies = [SILENT]
    expander(store).bounds = ExpansionBounds(0.02, 600)
    first = asked(store, owner, limit=9)
    expander(store).bounds = ExpansionBounds(PATIENCE, 600)
    before = len(server.asked)
    second = asked(store, owner, limit=12, cursor=first["next"])
    assert ("expansion" in second["understood"], len(server.asked)) == (False, before)


def test_why_one_stands_above_another_goes_by_the_same_words(store: Store) -> None:
    owner = mover(store)
    place = {one: rank for rank, one in enumerate(ids(asked(store, owner)), 1)}
    told: Any = store.app.outranking.above(owner, "m14", other="m15", query=QUESTION)
    assert (told["first"]["rank"], told["second"]["rank"]) == (place["m14"], place["m15"])
    assert told["expansion"]["status"] == "kept"


def test_a_block_for_a_turn_that_asks_holds_what_other_words_found(store: Store, server: ModelEndpoint) -> None:
    owner = mover(store)
    block = store.app.contexts.context(owner, QUESTION, whole=True)
    assert block["searches"][0]["expansion"] == {"status": "asked", "terms": TERMS, "model": "small"}
    assert {"m14", "m15"} <= set(block["injected"])
    brought = {one["id"]: one.get("asked_by") for one in block["parts"]["retrieved"]}
    assert brought["m14"] == [TERMS[0]]
    assert len(server.asked) == 1


def test_a_block_that_was_widened_is_made_again_word_for_word(store: Store, server: ModelEndpoint) -> None:
    owner = store.owner()
    texts = [*TALK, "We carried the boxes into the new flat", "The removal van was late again"]
    store.tell(owner, *(created(text, f"m{number}", store.yesterday) for number, text in enumerate(texts)))
    store.tell(owner, said("ask", QUESTION, day=store.yesterday))
    block = store.app.contexts.context(owner, QUESTION, turn_id="ask", whole=True)
    assert {"m14", "m15"} <= set(block["injected"])
    store.flushed()
    expander(store).forget()
    server.asked.clear()
    [injected] = store.app.answers.answer(owner, "ask")["injected"]
    assert injected["block"] is not None
    assert (injected["block"]["as_it_was"], injected["block"]["text"]) == (True, block["block"])
    assert server.asked == []


def test_a_turn_that_tells_something_is_given_to_no_model(store: Store, server: ModelEndpoint) -> None:
    owner = mover(store)
    for whole in (None, False):
        block = store.app.contexts.context(owner, "I moved house with Caroline.", whole=whole)
        assert not any("expansion" in one for one in block["searches"])
    assert "expansion" not in store.app.contexts.context(owner, QUESTION, whole=False)["searches"][0]
    assert server.asked == []


def test_the_store_counts_what_it_took_and_models_tells_how_it_goes(store: Store) -> None:
    owner = mover(store)
    before = store.app.expansion_counts()["asked"]
    asked(store, owner)
    told: Any = store.app.model_uses.models()
    assert (told["chat"]["expansion"], told["expansion"]["failing"]) == ("model", None)
    assert told["expansion"]["outcomes"]["asked"] == before + 1
    [used] = [one for one in told["used"] if one["use"] == "expand"]
    assert used["requests"] >= 1
