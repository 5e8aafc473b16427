"""Maps of what people say: joined by words they share and by meaning, told why, clusters named apart, no more than can be read."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.projections.choices import MOST_NODES
from engramlog_server.projections.embedding.meaning import KnownVectors
from engramlog_server.projections.laws.modes import MODES, Mode
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.reports.knowledge_map import BEST_EDGES, knowledge_map
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created, deleted, negated, parameters, purged
from tests.given.views import viewed
from tests.rows import each_row

ENGLISH = (
    "Melanie signed up for a pottery class at the studio in town", "The pottery class was fun, we made bowls on the wheel",
    "My bowls cracked in the kiln, says the studio", "The studio fires the kiln on Fridays",
    "We went camping in the mountains with the tent", "The tent leaked, so camping in the rain was cold",
    "Hiking in the mountains is what my brother likes", "She bought a violin and takes violin lessons",
    "The violin lessons are at the conservatory", "Thanks, that is so nice!",
)  # fmt: skip
CHINESE = (
    "我昨天去公园散步，看到了很多樱花", "公园的樱花开得很漂亮，我拍了照片", "她喜欢在公园散步",
    "我报名了摄影课程，老师教我们拍照片", "摄影课程每周三上课", "妈妈做了红烧肉，味道很好", "红烧肉是妈妈的拿手菜",
    "好的，谢谢你！",
)  # fmt: skip


def talk(texts: tuple[str, ...], **extra: Any) -> list[Told]:
    return [created(text, f"m{number}", speaker="user", **extra) for number, text in enumerate(texts)]


def mapped(view: OwnerView, topic: str | None, mode: Mode = "normal", **how: Any) -> dict[str, Any]:
    return knowledge_map(ViewQuery(view, at(0), mode), topic, **how)


def edges(answer: dict[str, Any]) -> dict[frozenset[str], dict[str, Any]]:
    return {frozenset((edge["from"], edge["to"])): edge for edge in answer["edges"]}


def words_in(answer: dict[str, Any]) -> str:
    """All that a map says but for the texts of its own nodes: names of clusters, keywords of edges."""
    said = [word for cluster in answer["clusters"] for word in (*cluster["words"], cluster["label"])]
    said += [word for edge in answer["edges"] for reason in edge["reasons"] for word in reason["keywords"]]
    return " ".join(said)


# --- what joins


@each_row(
    ("texts", "topic", "joined", "keyword"),
    [
        (ENGLISH, "pottery", ("m0", "m1"), "pottery"), (ENGLISH, "kiln", ("m2", "m3"), "kiln"),
        (ENGLISH, "violin", ("m7", "m8"), "violin"), (CHINESE, "公园", ("m0", "m1"), "樱花"),
        (CHINESE, "摄影", ("m3", "m4"), "摄影"), (CHINESE, "妈妈", ("m5", "m6"), "红烧肉"),
    ],
)  # fmt: skip
def test_what_shares_a_telling_word_is_joined_and_the_edge_says_by_which(texts, topic, joined, keyword) -> None:
    answer = mapped(viewed(*talk(texts)), topic)
    edge = edges(answer)[frozenset(joined)]
    assert (edge["link"], edge["weight"]) == ("keyword", edge["reasons"][0]["weight"])
    assert keyword in edge["reasons"][0]["keywords"]
    assert 0.3 <= edge["weight"] <= 1


def test_a_word_that_everybody_says_joins_nothing_and_a_rare_one_more_than_a_frequent_one() -> None:
    common = [created(f"The office has {name}", name) for name in ("lamps", "chairs", "desks", "carpets")]
    common = [*common, *(created(f"The office of {n} opens", f"o{n}") for n in range(200))]
    rare = [created("Our lamps are from Murano", "lit"), *(created(f"chairs {n}", f"c{n}") for n in range(12))]
    answer = mapped(viewed(*common, *rare), "lamps chairs", least=0.0, most=300)
    rare = edges(answer)[frozenset(("lamps", "lit"))]
    frequent = [edge for edge in answer["edges"] if edge["reasons"][0]["keywords"] == ["chairs"]]
    assert frequent
    assert all(rare["weight"] > edge["weight"] for edge in frequent)
    assert frozenset(("lamps", "desks")) not in edges(answer)


# --- meaning


def near(view: OwnerView, *alike: tuple[str, str], known: int | None = None) -> KnownVectors:
    """Vectors of which only these pairs are near each other."""
    wholes = np.eye(len(view.columns), 200, dtype=np.float32)
    for one, other in alike:
        a, b = view.columns.row(one), view.columns.row(other)
        wholes[b] = (wholes[a] + wholes[b]) / np.sqrt(2)
    return KnownVectors(wholes, np.arange(len(view.columns)) < (len(wholes) if known is None else known))


def test_what_means_the_same_in_other_words_is_joined_where_there_are_vectors() -> None:
    view = viewed(created("The automobile broke down", "a"), created("Engine trouble on the motorway", "b"))
    assert mapped(view, "automobile")["edges"] == []
    (edge,) = mapped(view, "automobile", near=near(view, ("a", "b")))["edges"]
    assert edge["reasons"] == [{"link": "meaning", "weight": 0.707107, "keywords": []}]
    assert [node["depth"] for node in mapped(view, "automobile", near=near(view, ("a", "b")))["nodes"]] == [0, 1]


def test_greetings_that_mean_the_same_are_not_joined() -> None:
    view = viewed(created("Thanks, that is so nice!", "a"), created("Thank you so much!", "b"), created("tea", "c"))
    assert mapped(view, "thanks", near=near(view, ("a", "b")))["edges"] == []


# --- clusters and their names


@each_row(("texts", "names"), [(ENGLISH, {"studio", "violin", "camping"}), (CHINESE, {"樱花", "红烧肉", "摄影"})])
def test_an_overview_parts_what_is_talked_of_and_names_it(texts, names) -> None:
    answer = mapped(viewed(*talk(texts)), None)
    said = {word for cluster in answer["clusters"] for word in cluster["words"]}
    assert names <= said
    assert len(answer["clusters"]) >= len(names)
    assert answer["topic"] is None


# --- bounds


def crowd(count: int) -> OwnerView:
    return viewed(*(created(f"kiln {n % 7} of glaze{n % 11} and clay{n % 13}", f"m{n}") for n in range(count)))


@each_row("topic", ["kiln", None])
@each_row("most", [1, 5, MOST_NODES])
def test_a_map_has_no_more_than_can_be_read(topic, most) -> None:
    answer = mapped(crowd(150), topic, most=most)
    assert (len(answer["nodes"]), answer["truncated"]) == (most, True)
    degrees = {node["id"]: 0 for node in answer["nodes"]}
    for pair in edges(answer):
        for end in pair:
            degrees[end] += 1
    assert len(answer["edges"]) <= (BEST_EDGES + 1) * most
    assert MOST_NODES == 36


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([*ENGLISH, *CHINESE]), max_size=25), st.sampled_from(["kiln", "公园", None]))
def test_every_map_is_whole_and_the_same_again(texts: list[str], topic: str | None) -> None:
    view = viewed(*(created(text, f"m{number}") for number, text in enumerate(texts)))
    answer = mapped(view, topic)
    names = [node["id"] for node in answer["nodes"]]
    assert len(set(names)) == len(names) <= MOST_NODES
    assert all({edge["from"], edge["to"]} <= set(names) and edge["weight"] >= 0.3 for edge in answer["edges"])
    assert len(edges(answer)) == len(answer["edges"])
    of = {member: cluster["id"] for cluster in answer["clusters"] for member in cluster["members"]}
    assert {node["id"]: node["cluster"] for node in answer["nodes"]} == {name: of.get(name) for name in names}
    assert mapped(viewed(*(created(text, f"m{n}") for n, text in enumerate(texts))), topic) == answer


# --- what may not be told

HIDING: dict[str, list[Told]] = {
    "deleted": [deleted("h0"), deleted("h1")],
    "purged": [deleted("h0"), deleted("h1"), purged("h0"), purged("h1")],
    "superseded": [negated("h0", 0, resolution="latest_wins"), negated("h1", 0, resolution="latest_wins")],
}
HIDDEN = ("The zeppelin flies at dawn to the pottery class", "A zeppelin in the pottery class")


@each_row("topic", ["pottery", "zeppelin", None])
@each_row("hiding", HIDING.values(), ids=HIDING)
def test_words_of_what_is_hidden_name_no_cluster_and_no_edge(hiding, topic) -> None:
    hidden = [created(text, f"h{number}") for number, text in enumerate(HIDDEN)]
    answer = mapped(viewed(*talk(ENGLISH), *hidden, *hiding), topic)
    assert "zeppelin" not in words_in(answer)
    assert not {"h0", "h1"} & {node["id"] for node in answer["nodes"]}


@each_row("mode", MODES)
@each_row("topic", ["pottery", "zeppelin", None])
def test_words_of_a_secret_are_on_no_map_in_any_mode(mode, topic) -> None:
    secret = [
        created(text, f"h{number}", sensitivity=SECRET, keywords=["zeppelin"], tags=["zeppelin"])
        for number, text in enumerate(HIDDEN)
    ]
    view = viewed(*talk(ENGLISH), *secret)
    for vectors in (None, near(view, ("m0", "h0"), ("m1", "h1"))):
        answer = mapped(view, topic, mode=mode, near=vectors)
        assert not {"h0", "h1"} & {node["id"] for node in answer["nodes"]}
        assert "zeppelin" not in f"{words_in(answer)} {answer['nodes']}"


def test_what_is_gone_by_today_is_not_told_of_a_past() -> None:
    hidden = [created(text, f"h{number}") for number, text in enumerate(HIDDEN)]
    view = viewed(*talk(ENGLISH), *hidden)
    for topic in ("pottery", "zeppelin", None):
        answer = mapped(view, topic, lost=lambda memory_id: memory_id.startswith("h"))
        assert not {"h0", "h1"} & {node["id"] for node in answer["nodes"]}
        assert "zeppelin" not in words_in(answer)


def test_what_stands_no_longer_is_joined_with_nothing_though_debug_mode_shows_it() -> None:
    view = viewed(*talk(ENGLISH), created("A zeppelin in the pottery class", "h0"), deleted("h0"))
    answer = mapped(view, "pottery", mode="debug")
    assert "h0" in {node["id"] for node in answer["nodes"]}
    assert not any("h0" in pair for pair in edges(answer))


def test_parameters_of_an_owner_hold_for_a_map_too() -> None:
    told = [created("one", "a", task="t"), created("other", "b", task="t")]
    assert len(mapped(viewed(*told), "one")["edges"]) == 1
    assert mapped(viewed(*told, parameters(task_edge=0.1)), "one")["edges"] == []


def test_where_all_are_alike_nothing_is_joined_by_that() -> None:
    view = viewed(*(created(f"topic{n} something{n}", f"m{n}") for n in range(60)))
    same = np.full((60, 4), 0.5, dtype=np.float32)
    assert mapped(view, "topic1", near=KnownVectors(same, np.ones(60, bool)))["edges"] == []
