"""A map of what is known: memories about a topic or the strongest of all, how they are joined and why, and how that clusters.

Seed 000, 3.2: the best hits on a topic, and what they are associated with.

**Nodes**: no more than can be read, the most strongly connected. Around a topic: the best hits, then step by step what is most
strongly joined with those that are there. What a memory counts is 1 - product over its links of (1 - what the other counts *
weight), so that several links count more than one. Of a whole owner: the strongest memories that are shown, and of these so many
from each of the circles that they form.

**Names of clusters**: the words that tell each from the others.

    worth = share of the cluster that holds the word * ln(that share / share of the other nodes that hold it) * (1/4 + rarity)

Words are keywords of the cluster's own memories, given or extracted: no function words, none of what is not on the map. What
names a cluster that came before, or stands in the topic, names another only where nothing else does. Whoever speaks, or is only
spoken to, names none, and no time, number, address or caption does. An account of what was said counts with what it tells of: a
word of one turn and of its episode is told once.

**Links**: associations, keywords that both have, nearness of meaning.

    keyword = 1 - product over the shared keywords of (1 - rarity * sqrt(weight in one * weight in the other))
    rarity  = 1 - ln(memories that hold the word) / ln(memories of the owner, at least 50)

Keywords are those of `OwnerView.keywords`, given and extracted; endings and case do not part them. So a word that one
memory in ten holds joins hardly anything (0.4 * weight of 400), and one that two hold much. Keywords that tell nothing of what a
memory is about join none: times, numbers, addresses, captions, roles, whoever is only spoken to. Meaning is the cosine of whole
vectors, where it is far above what this memory has with others: 0.5 at least, and 2.5 standard deviations above its mean,
since models differ in how alike they find strangers. Nothing is compared all with all: what lies beyond the memories at
hand is found by the postings of search, and by one product of matrices.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import ceil, exp, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.choices import LEAST_WEIGHT, MOST_NODES
from engramlog_server.projections.embedding.meaning import KnownVectors, Vectors
from engramlog_server.projections.index.associations import KEYWORD
from engramlog_server.projections.language.keywords import LEAST_WEIGHT as LEAST_KEYWORD_WEIGHT
from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.patterns import HAN, regex
from engramlog_server.projections.language.synonyms import word_key
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.language.times.calendar import MONTH, WEEKDAYS
from engramlog_server.projections.laws.law import consolidations
from engramlog_server.projections.laws.modes import Visibility, reasons_told, withheld_by_age
from engramlog_server.projections.memory.columns import Columns, Rows
from engramlog_server.projections.memory.deletion import turns_behind
from engramlog_server.projections.memory.kind import is_summary
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.shapes import Cluster, MapEdge, Node, UnplacedKnowledgeMap
from engramlog_server.projections.views.query import ViewQuery, seen_at
from engramlog_server.projections.views.quoting import PLAIN_WEIGHING
from engramlog_server.projections.views.view import OwnerView

LEAST_HIT = 0.4
"""A hit stands on a map of its own if its score is this share of the best one's."""
BEST_EDGES = 5
"""An edge is told if it is among the best of both its ends, or the best of one."""
POOL = 8
"""An overview is chosen among so many times as many memories as it has nodes at the most."""
MOST_POOL = 2_000
CIRCLES = 8
"""An overview shows so many circles of memories, where there are enough."""


class ChosenNodes(NamedTuple):
    """Steps from what was asked for by row, in the order in which they were chosen; whether there was more; weaker links."""

    depths: dict[int, int]
    truncated: bool
    weaker: int


def around(links: MapLinks, hits: Sequence[tuple[int, float]], depth: int, least: float, most: int) -> ChosenNodes:
    """The hits, best first, each with what it counts (0 to 1), and what is joined with them in so many steps."""
    own = dict(hits)
    first = hits[: ceil(most / 3)]
    values, depths = dict(first), {row: 0 for row, _ in first}
    left: dict[int, tuple[float, int]] = {row: (value, 0) for row, value in hits[len(first) :]}
    frontier, weaker = list(depths), 0
    for step in range(1, depth + 1):
        found, weak = links.beyond(frontier, least)
        weaker += weak
        reached = _counting(found, frontier, values, own)
        ranked = sorted((row for row in reached if row not in depths), key=lambda row: (-reached[row], -row))
        free = most - len(depths)
        room = free if step == depth else ceil(free * 2 / 3)
        frontier = ranked[:room]
        for row in frontier:
            left.pop(row, None)
            values[row], depths[row] = reached[row], 0 if row in own else step
        for row in ranked[room:]:
            known = left.get(row, (0.0, step))
            left[row] = max(known[0], reached[row]), known[1]
        if not frontier:
            break
    spare = sorted(left, key=lambda row: (-left[row][0], -row))
    for row in spare[: most - len(depths)]:
        depths[row] = left.pop(row)[1]
    return ChosenNodes(dict(sorted(depths.items(), key=lambda one: one[1])), bool(left), weaker)


def _counting(
    found: Iterable[MapLink], frontier: Sequence[int], values: Mapping[int, float], own: Mapping[int, float]
) -> dict[int, float]:
    """What each row counts that links lead to from the frontier."""
    begun, apart = set(frontier), dict[int, float]()
    for one in found:
        for here, there in ((one.a, one.b), (one.b, one.a)):
            if here in begun and there not in begun:
                apart[there] = apart.get(there, 1 - own.get(there, 0.0)) * (1 - values[here] * one.weight)
    return {row: 1 - rest for row, rest in apart.items()}


def overview(
    links: MapLinks, strongest: Sequence[int], least: float, most: int, total: int, check: Check
) -> ChosenNodes:
    """The circles of the strongest memories, each begun with the one that is joined most. `total`: how many could be shown."""
    found = links.among(strongest)
    strong = best_edges([one for one in found if one.weight >= least])
    places = {row: place for place, row in enumerate(strongest)}
    joined: dict[int, dict[int, float]] = defaultdict(dict)
    for one in strong:
        joined[one.a][one.b] = joined[one.b][one.a] = one.weight
    circles = [one for one in communities(list(strongest), strong, check) if len(one) > 1]
    orders = [_from_the_middle(one, joined, places) for one in circles]
    chosen = _in_turn(orders[:CIRCLES], most) or []
    for order in orders[CIRCLES:]:
        chosen += order[: most - len(chosen)]
    inside = set(chosen)
    alone = [row for row in strongest if row not in inside]
    chosen += alone[: max(0, most - len(chosen))]
    return ChosenNodes(dict.fromkeys(chosen, 0), total > len(chosen), sum(one.weight < least for one in found))


def _in_turn(orders: Sequence[Sequence[int]], most: int) -> list[int]:
    """Of each in turn its next, until there are enough."""
    longest = max(map(len, orders), default=0)
    turns = [order[at] for at in range(longest) for order in orders if at < len(order)]
    return turns[:most]


def _from_the_middle(
    circle: Iterable[int], joined: Mapping[int, Mapping[int, float]], places: Mapping[int, int]
) -> list[int]:
    """A circle's rows: the most joined, then each time the one most joined with those before it; of equals the stronger memory."""
    inside = set(circle)
    towards = {row: sum(w for other, w in joined[row].items() if other in inside) for row in inside}
    order, waiting = list[int](), set(inside)
    while waiting:
        row = min(waiting, key=lambda one: (-towards[one], places[one]))
        if not order:
            towards = dict.fromkeys(inside, 0.0)
        order.append(row)
        waiting.discard(row)
        for other, weight in joined[row].items():
            if other in waiting:
                towards[other] += weight
    return order


def best_edges(links: Iterable[MapLink]) -> list[MapLink]:
    """The links that are among the best of both their ends, or the best of one, in order of rows."""
    ranks: dict[int, int] = defaultdict(int)
    kept = []
    for one in sorted(links, key=lambda link: (-link.weight, -len(link.reasons), link.a, link.b)):
        a, b = ranks[one.a], ranks[one.b]
        ranks[one.a] += 1
        ranks[one.b] += 1
        if max(a, b) < BEST_EDGES or min(a, b) == 0:
            kept.append(one)
    return sorted(kept, key=lambda link: (link.a, link.b))


def communities(rows: Sequence[int], links: Sequence[MapLink], check: Check) -> list[list[int]]:
    """Louvain communities, the largest first; the same for the same rows and links."""
    import networkx as nx  # noqa: PLC0415 - a tenth of a second that no other question needs

    graph = nx.Graph()
    graph.add_nodes_from(sorted(rows))
    graph.add_weighted_edges_from(sorted((one.a, one.b, one.weight) for one in links))
    if not rows:
        return []
    found: list[set[int]] = []
    for number, partition in enumerate(nx.community.louvain_partitions(graph, seed=0), 1):
        check(number, len(rows))
        found = partition
    return sorted((sorted(community) for community in found), key=lambda community: (-len(community), community))


MOST_WORDS = 3
_BASE = 0.25
_APART = 0.2
"""A word whose share of the cluster is hardly above its share of the others (under e to this) distinguishes nothing."""


class ClusterNames:
    """Names clusters of one map, each otherwise than those before it."""

    def __init__(self, view: OwnerView, links: MapLinks, rows: Collection[int], topic: str | None) -> None:
        memories = view.columns.memories
        self._links = links
        self._said = {row: frozenset(_said(memories[row])) for row in rows}
        self._texts = {row: memories[row].content for row in rows}
        self._origins = {row: _origin(memories[row]) for row in rows}
        self._speakers = {term for row in rows for term in tokens(memories[row].speaker or "")}
        self._worn = set(tokens(topic or ""))
        """Parts of words that tell little here."""
        self._taken: set[frozenset[str]] = set()

    def words(self, cluster: Sequence[int]) -> list[str]:
        """At most three words, the most telling first; none where every name that they give is taken."""
        ranked = self._ranked(cluster)
        for begin in range(max(1, len(ranked))):
            chosen = _apart(ranked[begin:])
            if chosen and frozenset(chosen) not in self._taken:
                self._taken.add(frozenset(chosen))
                self._worn.update(term for word in chosen for term in tokens(word))
                return chosen
        return []

    def _ranked(self, cluster: Sequence[int]) -> list[str]:
        inside, words = set(cluster), dict[str, str]()
        for row in cluster:
            for key, one in self._links.keys(row).items():
                words[key] = min(words.get(key, one.word), one.word, key=lambda word: (len(word), word))
        held, alone = list[tuple[bool, float, str]](), list[tuple[bool, float, str]]()
        for key, word in words.items():
            parts = frozenset(tokens(word))
            if parts <= self._speakers or names_nothing(word):
                continue
            here = {row for row in cluster if key in self._links.keys(row) or (parts and parts <= self._said[row])}
            if 2 * sum(is_called(word, self._texts[row]) for row in here) >= len(here):
                continue
            others = sum(1 for row, said in self._said.items() if row not in inside and parts and parts <= said)
            apart = log(len(here) / len(cluster) / ((0.5 + others) / (1 + len(self._said) - len(cluster))))
            if others and apart <= _APART:
                continue
            worth = len(here) / len(cluster) * apart * (_BASE + self._links.rarity(key, word))
            told = {self._origins[row] for row in here} - {None}
            (held if len(told) > 1 else alone).append((parts <= self._worn, -worth, word))
        found = [word for worn, _, word in sorted(held) if not worn] or [word for *_, word in sorted(held)]
        return found or [word for *_, word in sorted(alone)]


def _origin(memory: Memory) -> str | None:
    """The first turn that states a memory, or its id; None of an account of several, which tells nothing new."""
    if is_summary(memory):
        return None
    return next(iter(turns_behind(memory)), memory.id)


def _said(memory: Memory) -> list[str]:
    return tokens("\n".join((memory.content, memory.summary or "", *memory.keywords)))


def _apart(ranked: Sequence[str]) -> list[str]:
    """The first words that say nothing that one before them says."""
    chosen, parts = list[str](), list[frozenset[str]]()
    for word in ranked:
        own = frozenset(tokens(word))
        if any(own <= one or one <= own for one in parts):
            continue
        chosen.append(word)
        parts.append(own)
        if len(chosen) == MOST_WORDS:
            break
    return chosen


CENTRES = 5
_STAMP = regex(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d\] (?:[^\s:：]{1,40}[:：]\s*)?")
LABEL = 40
"""Characters of a node's label."""
Lost = Callable[[str], bool]


def knowledge_map(
    asked: ViewQuery,
    topic: str | None,
    *,
    depth: int = 2,
    least: float = LEAST_WEIGHT,
    most: int = MOST_NODES,
    near: KnownVectors | None = None,
    lost: Lost | None = None,
    check: Check = unchecked,
) -> UnplacedKnowledgeMap:
    """Nodes, edges between them, and clusters: around the best hits on the topic, or of all where none is asked for.

    `depth` steps, over links of weight `least` and more, `most` nodes at the most, hits included: `truncated` says when there
    were more, `weaker` how many links were not followed. Only what the mode shows, and what is not `lost` since.
    """
    view, now, mode = asked
    seen = seen_at(view, now, mode)
    if mode == "normal" and view.parameters.long_ago:  # as a search does: a history of years is known, though it is old
        seen = seen.showing(withheld_by_age(view.columns, seen))
    shown = _showable(asked, seen, lost)
    links = MapLinks(view, shown, near, check)
    if topic is None:
        chosen, reasons = _overview(asked, seen, links, shown, least, most, check), seen.reasons
    else:
        found = view.matches(topic)
        kept = shown[found.rows]
        hits = _hits(found.rows[kept], found.scores[kept])
        centres = {row for row, _ in hits[:CENTRES]}
        chosen = around(links, hits, depth, least, most)
        reasons = np.full(len(view.columns), -1, dtype=np.int8)
        reasons[found.rows] = seen.reasons[found.rows]
    rows = list(chosen.depths)
    edges = best_edges(one for one in links.among(rows) if one.weight >= least)
    clusters = [one for one in communities(rows, edges, check) if len(one) > 1]
    if topic is None:
        centres = {_middle(one, edges) for one in clusters}
        within = {row for one in clusters for row in one}
        chosen = chosen._replace(depths={row: int(row in within and row not in centres) for row in rows})
    return {
        "owner": view.owner,
        "topic": topic,
        "nodes": _nodes(asked, chosen, centres, clusters),
        "edges": [_edge(asked, one) for one in edges],
        "clusters": _named(asked, ClusterNames(view, links, rows, topic), clusters),
        "depth": depth,
        "truncated": chosen.truncated,
        "weaker": chosen.weaker,
        "withheld": reasons_told(reasons, mode),
        "mode": mode,
    }


def _showable(asked: ViewQuery, seen: Visibility, lost: Lost | None) -> Flags:
    """What may stand on the map: what the mode shows, but no secret, nothing purged, and nothing that is gone by today."""
    columns = asked.view.columns
    shown: Flags = seen.shown & (columns.sensitivity < SECRET) & (columns.standing() < Columns.PURGED)
    if lost is not None:
        for row in np.flatnonzero(shown).tolist():
            shown[row] = not lost(columns.memories[row].id)
    return shown


def _hits(rows: Rows, scores: np.ndarray) -> list[tuple[int, float]]:
    """The hits on a topic, best first, each with its share of the best score."""
    order = np.lexsort((-rows, -scores))
    ranked = [(int(rows[at]), float(scores[at] / scores[order[0]])) for at in order.tolist()]
    return [one for place, one in enumerate(ranked) if place < CENTRES or one[1] >= LEAST_HIT]


def _overview(
    asked: ViewQuery, seen: Visibility, links: MapLinks, shown: Flags, least: float, most: int, check: Check
) -> ChosenNodes:
    rows = np.flatnonzero(shown)
    order = np.lexsort((-rows, -asked.view.columns.last_activated_at[rows], -np.round(seen.weights[rows], 6)))
    pool = rows[order[: min(MOST_POOL, POOL * most)]].tolist()
    return overview(links, pool, least, most, rows.size, check)


def _middle(cluster: Sequence[int], edges: Sequence[MapLink]) -> int:
    """The row that is joined most with the others of its cluster."""
    inside, joined = set(cluster), dict.fromkeys(cluster, 0.0)
    for one in edges:
        if one.a in inside and one.b in inside:
            joined[one.a] += one.weight
            joined[one.b] += one.weight
    return min(cluster, key=lambda row: (-joined[row], row))


def _edge(asked: ViewQuery, link: MapLink) -> MapEdge:
    memories = asked.view.columns.memories
    return {
        "from": memories[link.a].id,
        "to": memories[link.b].id,
        "weight": round(link.weight, 6),
        "link": link.reasons[0].link,
        "reasons": [
            {"link": one.link, "weight": round(one.weight, 6), "keywords": list(one.keywords)} for one in link.reasons
        ],
    }


def _nodes(asked: ViewQuery, chosen: ChosenNodes, centres: set[int], clusters: Sequence[Sequence[int]]) -> list[Node]:
    view = asked.view
    of = {row: number for number, community in enumerate(clusters) for row in community}
    rows = list(chosen.depths)
    settled = consolidations(view.columns.only(rows), asked.now, view.parameters)
    return [
        {
            "id": view.columns.memories[row].id,
            "label": _label(view.columns.memories[row].content),
            "kind": view.columns.memories[row].kind,
            "confidence": view.columns.memories[row].confidence,
            "consolidation": round(float(consolidated), 6),
            "weight": round(view.law.read(view.columns.memories[row], asked.now, view.parameters).weight, 6),
            "depth": chosen.depths[row],
            "is_center": row in centres,
            "cluster": of.get(row),
        }
        for row, consolidated in zip(rows, settled, strict=True)
    ]


def _label(content: str) -> str:
    """What a memory says, in one short line; an episode's begins with when and who, which says nothing of what it is about."""
    first = _STAMP.sub("", " ".join(content.split()))
    return first if len(first) <= LABEL else f"{first[: LABEL - 1]}…"


def _named(asked: ViewQuery, names: ClusterNames, clusters: Sequence[Sequence[int]]) -> list[Cluster]:
    """Each cluster with its members and a name that no other has."""
    memories, taken = asked.view.columns.memories, set[str]()
    answer: list[Cluster] = []
    for number, community in enumerate(clusters):
        words = names.words(community)
        first = next((row for row in community if not is_summary(memories[row])), community[0])
        label = " ".join(words) or _label(memories[first].content)
        label = label if label not in taken else f"{label} {number + 1}"
        taken.add(label)
        members = [memories[row].id for row in community]
        answer.append({"id": number, "members": members, "words": words, "label": label})
    return answer


_MONTH_OR_DAY = rf"(?:{MONTH}|{'|'.join(WEEKDAYS)})"
_NO_LETTERS = regex(r"[\d\W_]+")
_TIME = regex(
    rf"(?:\d[\d\s.:,/-]*(?:am|pm|st|nd|rd|th|h|min|s|years?|days?|hours?|weeks?|months?)?|{_MONTH_OR_DAY})"
    rf"(?:[\s,]+(?:\d[\d.:,/-]*(?:am|pm|st|nd|rd|th)?|{_MONTH_OR_DAY}))*"
)
_UNITS_CHINESE = "年|月|日|号|天|周|星期|礼拜|点|时|分|秒|小时|分钟"
_TIME_CHINESE = regex(
    rf"[第上下本今明昨前后]?[\d一二三四五六七八九十百零两几]*(?:{_UNITS_CHINESE})[\d一二三四五六七日天末]*[份间钟候]?"
)
_DATE_FIRST = regex(r"\d{1,4}[-/.年]\d{1,2}")
_ADDRESS = regex(r"@|://|\bwww\.|\.(?:com|org|net|cn|io|edu|gov|html?|jpe?g|png|gif|webp|pdf)\b")
_CAPTION_TEXT = """
    photo photos photograph photographs photography picture pictures pic pics image images snapshot screenshot
    照片 图片 图像 截图 相片
"""
_CAPTION = frozenset(_CAPTION_TEXT.split())
"""What captions of pictures begin with. Who takes photographs talks of them in other places of a sentence."""
_BRACKETED = r"\[[^\]\n]{0,40}?(?:image|photo|picture|图片|照片)[^\]\n]{0,400}\]"
_IN_CAPTIONS = regex(rf"{_BRACKETED}|(?:{'|'.join(sorted(_CAPTION))})\s+(?:of|showing|with)\b")
_ROLES = frozenset({"user", "users", "assistant", "ai", "chatbot", "bot", "用户", "助手", "助理", "机器人"})
_GREETING = r"(?:hey|hi|hello|thanks|thank you|bye|wow|yeah|yes|no|oh|sorry|congrats|great|cool|你好|您好|谢谢|亲爱的|好的|再见)"
_VAGUE_TEXT = """
    background foreground front side middle bit kind sort lot way stuff thing moment time today tomorrow yesterday week weekend
    month year day night morning evening lately recently chance point part place idea mmm hmm haha wow yum
    不能 不用 不会 想想 看看 试试 有着 带上 截然不同 很感兴趣 感兴趣 了不起 好好 继续下去 及时处理 今天天气 时刻 时候 小时 时间 方面
    知道 后感 在读 美的 好吃 好看 成为 变得 不同 重要 有趣 有意思 更好 一起 大家
    事情 东西 样子 地方 身边 陪伴着 面对 新开 打发 会花
    想法 感觉 问题 情况 内容 方式 建议 今天 明天 昨天 最近 时期
"""
_VAGUE = frozenset(_VAGUE_TEXT.split())
"""Words that say something beside others and nothing by themselves."""


def is_timeless(word: str) -> bool:
    """Whether a keyword is more than a time, a number, or the address of a page, file or person."""
    told = word.lower()
    return not (
        _NO_LETTERS.fullmatch(told)
        or _TIME.fullmatch(told)
        or _TIME_CHINESE.fullmatch(told)
        or _ADDRESS.search(told)
        or _DATE_FIRST.match(told)
    )


def is_of_captions(word: str, text: str) -> bool:
    """Whether a keyword is what captions begin with, and stands in this text in nothing else."""
    told = word.lower()
    if next(iter(told.split()), "") not in _CAPTION:
        return False
    left = _IN_CAPTIONS.sub(" ", text.lower())
    return told not in left


def names_nothing(word: str) -> bool:
    """Whether a word is no name of anything by itself: a role of who speaks, or a word that says nothing alone."""
    parts = word.lower().split()
    return all(part in _ROLES or part in _VAGUE for part in parts) or (len(word) == 1 and not word.isascii())


@cache
def _surnames() -> frozenset[str]:
    return frozenset(words("surnames", "chinese"))


def is_called(word: str, text: str) -> bool:
    """Whether somebody of this name is only spoken to in a text, or says who he is: no name of what is talked about."""
    told = word.lower()
    if told.isascii():
        return " " not in told and _called_english(told).search(text.lower()) is not None
    if not 2 <= len(told) <= 4 or not (told[0] in _surnames() or len(told) == 2):
        return False
    return _name(told).search(text.lower()) is not None


def _name(word: str) -> re.Pattern[str]:
    told = re.escape(word)
    before = "" if word[0] in _surnames() else f"[{HAN}]?"
    called = rf"(?:^|[。！？!?\n\]]\s*|{_GREETING}[，,！! ]?\s*){before}{told}(?=[，,！!。~：:]|$)"
    return re.compile(rf"{called}|(?:我叫|我是|名字是|名叫|叫做){before}{told}")


def _called_english(word: str) -> re.Pattern[str]:
    told = re.escape(word)
    return re.compile(rf"\b{_GREETING},? {told}\b|, {told}[!.?]|\b(?:my name is|i'm|i am|call me) {told}\b")


MEANING = "meaning"
LEAST_COSINE = 0.5
DEVIATIONS = 2.5
LEAST_APART = 0.05
"""So much more alike than any two at the least."""
LEAST_TELLING = 0.2
"""By meaning only such memories are joined as have a keyword that is worth so much, and is not one of the common words that stand
in where there are no others: or all thanks and greetings would be."""
LEAST_WORTH = 0.05
"""A shared keyword that is worth less, such as the name of who speaks all the time, joins nothing."""
MOST_ALIKE = 3
"""By meaning a memory is joined with so many, those nearest to it."""
MOST_SOUGHT = 24
"""Memories that are looked at beyond the map for one keyword, those that search finds best."""
MOST_HOLDING, FOLLOWING = 100, 8
"""A word that more memories on hand hold joins each with so many that came next: so that the pairs stay in bounds."""
MOST_TOLD = 5
"""Keywords told of a link, the rarest."""
_EVERY = 8
"""Rows looked at between two checks."""
_SAMPLE = 2_000
"""Memories against which it is told how alike a memory is to any."""
_FEW = 50
"""Memories of an owner under which a word of two of them counts as rare all the same."""
_FEW_KNOWN = 10
"""Vectors under which nobody can say how alike strangers are."""

Pair = tuple[int, int]
Flags = npt.NDArray[np.bool_]


class Reason(NamedTuple):
    """Why two memories are joined: a kind of association, or meaning, with its weight in (0, 1]."""

    link: str
    weight: float
    keywords: tuple[str, ...] = ()


class MapLink(NamedTuple):
    """Two rows, the smaller first, and why they are joined, the strongest reason first."""

    a: int
    b: int
    reasons: tuple[Reason, ...]

    @property
    def weight(self) -> float:
        """That of the strongest reason."""
        return self.reasons[0].weight


class _Spelled(NamedTuple):
    word: str
    weight: float


class MapLinks:
    """The links between rows that may be shown. For one map."""

    def __init__(self, view: OwnerView, shown: Flags, near: KnownVectors | None, check: Check) -> None:
        """`near`: the vectors of rows, where there is an embedder."""
        self._view = view
        self._shown = shown
        self._near = near
        self._check = check
        self._associations = view.associated(check)
        self._keys: dict[int, dict[str, _Spelled]] = {}
        self._rarities: dict[str, float] = {}
        self._sought: dict[str, list[int]] = {}

    def joins(self, row: int) -> bool:
        """Whether a row may be joined with others: it is shown, no secret, and nothing has taken it out of the live ones."""
        return bool(self._shown[row]) and row in self._associations

    def keys(self, row: int) -> dict[str, _Spelled]:
        """A row's keywords by what their forms have in common, but for those that tell nothing of what it is about."""
        found = self._keys.get(row)
        if found is None:
            found = self._keys[row] = {}
            content = self._view.columns.memories[row].content
            for one in self._view.keywords(row):
                if not is_timeless(one.word) or is_of_captions(one.word, content):
                    continue
                found.setdefault(word_key(one.word), _Spelled(one.word, one.weight))
        return found

    def rarity(self, key: str, word: str) -> float:
        """How rare a keyword is in what the owner's memories say, from 0 to 1; by its rarest part."""
        found = self._rarities.get(key)
        if found is None:
            count, terms = len(self._view), tokens(word)
            idf = max((self._view.idf(term) for term in terms), default=0.0)
            holding = max(1.0, (count + 1) * exp(-idf) - 0.5)
            found = 1 - log(holding) / log(max(count, _FEW))
            found = self._rarities[key] = min(1.0, max(0.0, found))
        return found

    def beyond(self, rows: Sequence[int], least: float) -> tuple[list[MapLink], int]:
        """Links of weight `least` and more from these rows to any, and how many weaker associations there are."""
        pairs: set[Pair] = set()
        told: dict[Pair, Reason] = {}
        for row in counted(rows, self._check, len(rows), every=_EVERY):
            if not self.joins(row):
                continue
            told |= self._associated(row)
            for key, one in self.keys(row).items():
                if self.rarity(key, one.word) >= least:
                    pairs.update(_pair(row, other) for other in self._holding(key, one.word) if other != row)
        alike = self._alike(rows, None)
        found = self._linked(pairs | told.keys() | alike.keys(), told, alike)
        return [one for one in found if one.weight >= least], sum(one.weight < least for one in found)

    def among(self, rows: Sequence[int]) -> list[MapLink]:
        """All links between these rows, each once, in order of rows."""
        inside = {row for row in rows if self.joins(row)}
        told: dict[Pair, Reason] = {}
        holding: dict[str, list[int]] = defaultdict(list)
        for row in counted(sorted(inside), self._check, len(inside), every=_EVERY):
            told |= {pair: one for pair, one in self._associated(row).items() if inside.issuperset(pair)}
            for key in self.keys(row):
                holding[key].append(row)
        pairs = {pair for held in holding.values() for pair in _pairs(held)}
        alike = self._alike(sorted(inside), sorted(inside))
        return self._linked(pairs | told.keys() | alike.keys(), told, alike)

    def _linked(self, pairs: Iterable[Pair], told: dict[Pair, Reason], alike: dict[Pair, Reason]) -> list[MapLink]:
        found = []
        for a, b in sorted(pairs):
            reasons = [one for one in (told.get((a, b)), alike.get((a, b))) if one is not None]
            words = self._worded(a, b)
            if words is not None:
                given = next((one for one in reasons if one.link == KEYWORD), None)
                reasons = [one for one in reasons if one.link != KEYWORD]
                reasons.append(words if given is None else words._replace(weight=max(words.weight, given.weight)))
            if reasons:
                found.append(MapLink(a, b, tuple(sorted(reasons, key=lambda one: (-one.weight, one.link)))))
        return found

    def _associated(self, row: int) -> dict[Pair, Reason]:
        """The associations of a row with others that may be shown."""
        neighbours = self._associations.neighbours(row, self._view.parameters)
        return {
            _pair(row, link.to_row): Reason(link.link, link.weight) for link in neighbours if self._shown[link.to_row]
        }

    def _worded(self, a: int, b: int) -> Reason | None:
        """What keywords two rows share; None where they share none that counts."""
        mine, theirs = self.keys(a), self.keys(b)
        shared = []
        for key in mine.keys() & theirs.keys():
            word = min(mine[key].word, theirs[key].word, key=lambda one: (len(one), one))
            worth = self.rarity(key, word) * sqrt(mine[key].weight * theirs[key].weight)
            if worth >= LEAST_WORTH:
                shared.append((-worth, word))
        if not shared:
            return None
        shared.sort()
        apart = 1.0
        for worth, _ in shared:
            apart *= 1 + worth
        return Reason(KEYWORD, min(1.0, 1 - apart), tuple(word for _, word in shared[:MOST_TOLD]))

    def _holding(self, key: str, word: str) -> list[int]:
        """Rows that have a keyword, among those that search finds best by it."""
        found = self._sought.get(key)
        if found is None:
            rows, scores, _ = self._view.matches_of(dict.fromkeys(tokens(word), 1.0), PLAIN_WEIGHING)
            kept = self._shown[rows]
            rows, scores = rows[kept], scores[kept]
            best = rows[np.lexsort((-rows, -scores))[:MOST_SOUGHT]].tolist()
            found = self._sought[key] = [row for row in best if self.joins(row) and key in self.keys(row)]
        return found

    def _alike(self, rows: Sequence[int], among: Sequence[int] | None) -> dict[Pair, Reason]:
        """The nearest by meaning of each of these rows, `among` others or all that may be shown."""
        if self._near is None or not len(rows):
            return {}
        wholes, known = self._near.wholes, self._near.known
        room = np.flatnonzero(known & self._shown[: len(known)]) if among is None else np.array(among, dtype=np.int64)
        room = room[(room < len(known)) & known[np.minimum(room, len(known) - 1)]]
        asked = [row for row in rows if row < len(known) and known[row] and self._tells(row)]
        if not asked or room.size < 2:
            return {}
        self._check(0, len(asked))
        least = self._floors(asked)
        near = wholes[asked] @ wholes[room].T
        found: dict[Pair, Reason] = {}
        for row, cosines, floor in zip(asked, near, least.tolist(), strict=True):
            cosines[room == row] = -1.0
            high = np.flatnonzero(cosines >= floor)
            for at in high[np.lexsort((room[high], -np.round(cosines[high], 6)))[:MOST_ALIKE]].tolist():
                if self._tells(other := int(room[at])):
                    found[_pair(row, other)] = Reason(MEANING, min(1.0, float(cosines[at])))
        return found

    def _tells(self, row: int) -> bool:
        """Whether a row says something in particular."""
        return self.joins(row) and any(
            one.weight > LEAST_KEYWORD_WEIGHT and self.rarity(key, one.word) * one.weight >= LEAST_TELLING
            for key, one in self.keys(row).items()
        )

    def _floors(self, rows: Sequence[int]) -> Vectors:
        """The cosine from which each of the rows is joined."""
        assert self._near is not None
        every = np.flatnonzero(self._near.known)
        sample = every[:: max(1, -(-every.size // _SAMPLE))]
        if sample.size < _FEW_KNOWN:
            return np.full(len(rows), LEAST_COSINE, dtype=np.float32)
        cosines = self._near.wholes[list(rows)] @ self._near.wholes[sample].T
        found: Vectors = np.maximum(
            LEAST_COSINE, cosines.mean(axis=1) + np.maximum(DEVIATIONS * cosines.std(axis=1), LEAST_APART)
        )
        return found


def _pairs(held: Sequence[int]) -> Iterator[Pair]:
    """Each two of the ascending rows that hold a word; where they are many, each and those that follow it at once."""
    reach = len(held) if len(held) <= MOST_HOLDING else FOLLOWING
    for at, a in enumerate(held):
        for b in held[at + 1 : at + 1 + reach]:
            yield a, b


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
