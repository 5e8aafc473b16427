"""Search: which memories answer a question, in what order and why, and what else they bring to mind. Pure.

The rankings are in `conversation` and `rankings`; what all owe is here: filters, what is current first, reasons, what was withheld.

Matches that normal mode withholds because of age alone are included, ranked like all others and marked, unless the request or the
owner's parameter `long_ago` says no: an imported history of years gets answers. What no longer holds leaves normal mode, brings
nothing to mind, and lends its match to what replaced it. A pattern stands below the best of what it was made of.

A question of several parts: each part brings its share of the first ten. The whole question keeps its first places. Behind them the
part with the fewest among the first ten brings its best match that is not there yet, the whole question among them. What a part
brings in is lifted by a part of the score of its own, `share`. A name may stand for a role, as the owner's own memories say it: `my
sister is called Anna`. Of these only what the mode shows and the filters let through is read, and of that the best matches alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.index.correction_index import CorrectionIndex
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.kin import (
    Somebody,
    may_name,
    names_in,
    renamed,
    role_words,
    roles_in,
)
from engramlog_server.projections.language.questions import MOST_PARTS, asked_parts
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.modes import REASONS, Flags, reasons_told, secrets, withheld_by_age
from engramlog_server.projections.memory.columns import GONE, Columns, Rows
from engramlog_server.projections.memory.record import LEVELS
from engramlog_server.projections.memory.tags import contextual_match
from engramlog_server.projections.ranking import conversation
from engramlog_server.projections.ranking.conversation import TERM_WEIGHTS, WEIGHTS
from engramlog_server.projections.ranking.question import (
    Lifted,
    Ranking,
    RunningSearch,
    Vacated,
    direct,
    part_understood,
    plain_bm25,
    understood,
    vacated,
    with_successors,
)
from engramlog_server.projections.ranking.rankings import (
    MOST_PUBLISHED,
    WEIGHT_SHARE,
    Plan,
    Ranked,
    admits_shown,
    best,
    brought_to_mind,
    by_activation,
    by_overlap,
    by_published,
    by_text,
    expanded,
    path_told,
    relevance_of,
    seeds_of,
    text_score,
)
from engramlog_server.projections.ranking.search_request import BY_MEANING, FOLLOWING, PLAIN, SearchRequest, told
from engramlog_server.projections.shapes import (
    Expanded,
    Explanation,
    Hit,
    MeaningCompared,
    Understood,
    UnplacedFound,
    Withheld,
)
from engramlog_server.projections.views.query import ViewQuery, card, leaving, strengths, told_beside

SHOWN = 10
"""Places among which every part has its share."""
KEPT = 5
"""Of these, the first that are the whole question's own."""
FUSION, EXPANSION_SHARE = 1, 0.5
"""Added to a place before it is inverted, and what each of a model's rankings counts where the question's own counts 1."""
ABOVE = 1e-6
SHARE_PART = "share"
"""What a result calls it: what its score is more by."""
LOOKED_AT = 50
"""Memories that are read for who somebody is: so many matches of the question, and so many of the name or the role."""
_NAME_COUNTS = 3.0
Ranks = Callable[[str], tuple[Ranked, Mapping[int, list[str]]]]
"""The ranking of a text by itself, with what each row replaced."""


def plan_of(this: RunningSearch) -> Plan:
    """The parts of a question, at most five; of one that is one thing, how else it says whom it means."""
    asked = asked_parts(this.query)
    people = people_meant(this)
    if asked.parts:
        told = dict.fromkeys([*asked.parts, *(said for part in asked.parts for said in renamed(part, people))])
        return Plan(asked.way, tuple(told)[:MOST_PARTS], asked.many, asked.ordered)
    others = tuple(renamed(this.query, people))
    return Plan("named" if others else "whole", others, asked.many, asked.ordered)


@dataclass(frozen=True, slots=True)
class Shared:
    """A ranking in which every part has its share."""

    ranked: Ranked
    replaced: Mapping[int, list[str]]
    plan: Plan


def shared(this: RunningSearch, ranked: Ranked, replaced: Mapping[int, list[str]], plan: Plan, ranks: Ranks) -> Shared:
    """The ranking of the whole question, with what its parts bring among the first ten."""
    if not plan.parts:
        return Shared(ranked, replaced, plan)
    whole = _first(ranked)
    lists, replacing = [], dict[int, list[str]]()
    for part in plan.parts:
        found, replaces = ranks(part)
        lists.append([row for row in _first(found) if this.seen.shown[row]])
        replacing |= replaces
    first = _in_turn(whole, lists)
    brought = {row: [at for at, one in enumerate(lists) if row in one[:SHOWN]] for row in first}
    brought = {row: parts for row, parts in brought.items() if parts and row not in whole[:KEPT]}
    lifted = _lifted(ranked, first)
    more = {row: replacing[row] for row in brought if row in replacing and row not in replaced}
    return Shared(lifted, {**replaced, **more}, replace(plan, brought=brought))


def fused(this: RunningSearch, found: Shared, ranks: Ranks) -> Shared:
    """The ranking with the other words that a model has for the question, by reciprocal rank fusion (Cormack et al. 2009).

    What stands first stays there, and only what two rankings agree on comes before the question's own third result. Nothing moves
    beyond the first ten. So wrong words cost little.
    """
    whole, plan = _first(found.ranked), found.plan
    lists, replacing = [], dict[int, list[str]]()
    for term in this.request.expansions:
        ranked, replaces = ranks(term)
        lists.append([row for row in _first(ranked) if this.seen.shown[row]])
        replacing |= replaces
    score = defaultdict[int, float](float)
    for one, worth in ((whole, 1.0), *((rows, EXPANSION_SHARE) for rows in lists)):
        for place, row in enumerate(one, 1):
            score[row] += worth / (FUSION + place)
    first = sorted(score, key=lambda row: (row not in whole[:1], -score[row]))[:SHOWN]
    parts = len(plan.parts)
    brought = {
        row: [parts + at for at, one in enumerate(lists) if row in one] for row in first if row not in whole[:SHOWN]
    }
    more = {row: replacing[row] for row in brought if row in replacing and row not in found.replaced}
    plan = replace(plan, expansions=this.request.expansions, brought={**plan.brought, **brought})
    return Shared(_lifted(found.ranked, first), {**found.replaced, **more}, plan)


def _first(ranked: Ranked) -> list[int]:
    """The rows that stand first, with some more for those that others have brought already."""
    found: list[int] = ranked.rows[best(ranked.scores, ranked.rows, 2 * SHOWN)].tolist()
    return found


def _in_turn(whole: Sequence[int], lists: Sequence[Sequence[int]]) -> list[int]:
    """The first ten rows: the whole question's first, then of whichever part, or the whole, has the fewest there its next best.

    A row counts for the part that ranks it best.
    """
    first, had = dict.fromkeys(whole[:KEPT]), [0] * len(lists) + [min(KEPT, len(whole))]
    for row in first:
        places = [(one.index(row), at) for at, one in enumerate(lists) if row in one]
        if places:
            had[min(places)[1]] += 1
    waiting = [[row for row in one if row not in first] for one in (*lists, whole)]
    while len(first) < SHOWN and any(waiting):
        at = min((at for at, one in enumerate(waiting) if one), key=lambda at: (had[at], at))
        row = waiting[at].pop(0)
        if row not in first:
            first[row] = None
            had[at] += 1
    return list(first)


def _lifted(ranked: Ranked, first: Sequence[int]) -> Ranked:
    """The ranking with these rows first, in this order; those that are not in it are added."""
    place = {row: at for at, row in enumerate(ranked.rows.tolist())}
    missing = [row for row in first if row not in place]
    place |= {row: ranked.rows.size + at for at, row in enumerate(missing)}
    own = np.concatenate([ranked.scores, np.zeros(len(missing))])
    others = np.ones(own.size, dtype=bool)
    others[[place[row] for row in first]] = False
    least = float(own[others].max()) if others.any() else 0.0
    share = np.zeros(own.size)
    for row in reversed(first):
        at = place[row]
        share[at] = max(0.0, round(least + ABOVE - own[at], 6))
        least = float(own[at] + share[at])
    if not share.any() and not missing:
        return ranked
    zeros = np.zeros(len(missing))
    parts = {name: np.concatenate([part, zeros]) for name, part in ranked.parts.items()}
    parts[SHARE_PART] = parts.get(SHARE_PART, 0.0) + share
    rows = np.concatenate([ranked.rows, np.array(missing, dtype=np.int64)])
    return Ranked(rows, own + share, parts, ranked.ways)


def people_meant(this: RunningSearch) -> list[Somebody]:
    """Whom the owner's memories introduce, of those that the question may name. Nothing is read where it names nobody."""
    if this.reading is None or not may_name(this.query):
        return []
    found = _introduced(this, this.matches)
    roles, names = roles_in(this.query), names_in(this.query)
    if not found and roles:
        found = _introduced(this, this.view.matches_of(_once(" ".join(roles)), this.reading.weighing))
    if not found and names:
        terms = _role_terms() | dict.fromkeys(tokens(" ".join(names)), _NAME_COUNTS)
        found = _introduced(this, this.view.matches_of(terms, this.reading.weighing))
    return found


@cache
def _role_terms() -> dict[str, float]:
    return _once(" ".join(role_words()))


def _once(text: str) -> dict[str, float]:
    return dict.fromkeys(tokens(text), 1.0)


def _introduced(this: RunningSearch, matches: Scores) -> list[Somebody]:
    shown = this.seen.shown[matches.rows]
    rows, scores = matches.rows[shown], matches.scores[shown]
    kept = rows[best(scores, rows, LOOKED_AT)]
    if kept.size:
        kept = kept[this.allowed.passing(np.asarray(kept))]
    told = kept[this.view.columns.sensitivity[kept] <= this.request.most_sensitive]
    return [one for row in told.tolist() for one in this.view.people(row)]


Rank = Callable[[RunningSearch], tuple[RunningSearch, Lifted]]
"""Ranks a search; what leaves it as corrected is withheld in the search that it gives back."""


def with_long_ago(this: RunningSearch, rank: Rank) -> tuple[RunningSearch, Lifted]:
    """The search as `rank` ranks it, with the matches that only their age hides, and with proposals if they are asked for."""
    old = _opened(this)
    if old is None:
        return rank(this)
    opened, lifted = rank(this.showing(old))
    rows = lifted.ranked.rows
    return opened.recalling(rows[old[rows]], this.seen), lifted


def _opened(this: RunningSearch) -> Flags | None:
    """Rows that are shown although the mode withholds them; None if there are none."""
    if this.asked.mode != "normal":
        return None
    asked, rows = this.request.include_faded, np.zeros(this.seen.shown.size, dtype=bool)
    if (this.view.parameters.long_ago and this.request.ranking in FOLLOWING) if asked is None else asked:
        rows |= withheld_by_age(this.view.columns, this.seen)
    if this.request.proposals:
        rows |= this.seen.reasons == REASONS.index("proposed")
    return rows if rows.any() else None


MOST_ROUNDS = 3
"""How often is looked whether what took the place of what left leaves too."""

INDEPENDENT = ("text", "overlap")
"""Rankings under which no memory's score depends on which others are shown."""


def without_corrected(this: RunningSearch, rank: Callable[[RunningSearch], Ranked]) -> tuple[RunningSearch, Vacated]:
    """The search and its ranking without what leaves normal mode as corrected: what is withheld lends nothing to others."""
    first = ranked = rank(this)
    gone = np.zeros(0, dtype=np.int64)
    for _ in range(MOST_ROUNDS if this.asked.mode == "normal" else 0):
        leaves = _corrected(this, ranked.rows)
        if not leaves.size:
            break
        gone, this = np.concatenate([gone, leaves]), this.without(leaves, "corrected")
        if this.request.ranking in INDEPENDENT:
            break
        ranked = rank(this)
    return this, vacated(first, gone, ranked)


def _corrected(this: RunningSearch, ranked: Rows) -> Rows:
    """What matches, or is ranked, and leaves normal mode: all that the question asks of it was corrected."""
    strong = strengths(this.view) == GONE
    if not strong.any():
        return np.zeros(0, dtype=np.int64)
    found = np.zeros(strong.size, dtype=bool)
    found[ranked] = found[this.matches.rows] = True
    return leaving(this.view, np.flatnonzero(found & strong & this.seen.shown).tolist(), this.asked_words)


def admits(this: RunningSearch) -> Callable[[int], bool]:
    """Whether a row may be brought to mind: what the mode shows, but what leaves it as corrected."""
    shown = admits_shown(this.seen)
    if this.asked.mode != "normal":
        return shown
    return lambda row: shown(row) and not leaving(this.view, [row], this.asked_words).size


def lending(this: RunningSearch) -> Scores:
    """What is negated and matches, by words or by meaning, with the score that it lends to what replaced it."""
    matches, conflict = this.matches, this.view.columns.conflict
    negated = np.flatnonzero(conflict[matches.rows] >= Columns.KEEP)
    rows, bm25 = matches.rows[negated], matches.scores[negated]
    if this.reading is None:
        return Scores(rows, text_score(this.view, bm25), [])
    worth = np.zeros(len(this.view.columns))
    if this.request.search_mode != "semantic":
        worth[rows] = WEIGHTS.text * bm25 / max(float(matches.scores.max(initial=0.0)), 1e-9)
    if this.sense is not None:
        near = conversation.nearness_of_withheld(
            this.query, this.reading, this.sense, this.seen.shown, conflict >= Columns.KEEP
        )
        share = 1.0 if this.request.search_mode == "semantic" else near.share
        worth *= 1.0 - share
        worth[near.rows] += WEIGHTS.meaning * share * near.values
    rows = np.flatnonzero(worth)
    return Scores(rows, worth[rows], [])


BELOW = 2e-6
"""By how much: so that they differ when told to six decimals."""
PATTERN_PART = "pattern"
"""What a result calls it: what its score is less by."""


def behind_evidence(this: RunningSearch, ranked: Ranked) -> Ranked:
    """The ranking with each pattern below the best match among its evidence and the turns of that; where none matches, as it is."""
    columns = this.view.columns
    patterns = this.view.index(CorrectionIndex).patterns
    if not patterns:
        return ranked
    place = {row: at for at, row in enumerate(ranked.rows.tolist())}
    less = np.zeros(ranked.rows.size)
    for row in patterns.keys() & place.keys():
        pieces = [at for at in map(columns.row, patterns[row]) if at is not None]
        turns = [columns.row(turn) for at in pieces for turn in columns.memories[at].source_turns]
        found = [float(ranked.scores[place[at]]) for at in (*pieces, *turns) if at in place and at != row]
        if found and ranked.scores[place[row]] > max(found) - BELOW:
            less[place[row]] = round(max(found) - BELOW - float(ranked.scores[place[row]]), 6)
    if not less.any():
        return ranked
    return Ranked(ranked.rows, ranked.scores + less, {**ranked.parts, PATTERN_PART: less}, ranked.ways)


MOST_WITHHELD = 5
"""Withheld memories named for each reason, the best matches."""


def results(
    this: RunningSearch, ranked: Ranked, order: Rows, replaced: Mapping[int, list[str]], plan: Plan
) -> list[Hit]:
    rows = ranked.rows[order]
    memories = [this.view.columns.memories[int(row)] for row in rows]
    brought = _brought(this, [memory.id for memory in memories]) if this.request.reasons else []
    relevance = relevance_of(this.asked, this.query, rows, plain_bm25(this, rows), this.request, this.sense)
    whole = relevance.whole
    levels, results = this.seen.levels_of(rows).tolist(), list[Hit]()
    for number, (at, memory) in enumerate(zip(order, memories, strict=True)):
        row = int(rows[number])
        reading = this.view.law.read(memory, this.asked.now, this.view.parameters)
        explained: Explanation = {"score": {}, "terms": {}, "law": this.view.law.name, "factors": {}}
        if this.request.reasons:
            explained = _explained(this, ranked, int(at), brought[number], reading.factors)
        _tell_more(this, ranked, row, replaced, explained)
        if row in plan.brought:
            explained["asked_by"] = [plan.asked[one] for one in plan.brought[row]]
        if this.request.reasons and this.request.ranking == "published":
            explained["keywords"] = relevance.keywords.matched(number)
        result: Hit = {
            **card(memory, LEVELS[levels[number]]),
            **told_beside(this.view, memory),
            "score": round(float(ranked.scores[at]), 6),
            "relevance": round(float(whole[number]), 6),
            "weight": round(reading.weight, 6),
            "explain": explained,
        }
        if row in this.long_ago:
            result["long_ago"] = True
        results.append(result)
    return results


def _brought(this: RunningSearch, ids: list[str]) -> list[dict[str, float]]:
    reading = this.reading
    return (
        this.view.explain(this.query, ids)
        if reading is None
        else this.view.explain_of(reading.counted, ids, reading.weighing)
    )


def _explained(
    this: RunningSearch, ranked: Ranked, at: int, bm25: Mapping[str, float], factors: Mapping[str, float]
) -> Explanation:
    """The parts of a score, which add up to it, with the weight of each where it has one; and the terms of the text."""
    score = {name: round(value, 6) if (value := part.item(at)) else 0.0 for name, part in ranked.parts.items()}
    law, told = this.view.law.name, {name: round(value, 6) for name, value in factors.items()}
    if this.reading is None:
        text = float(text_score(this.view, np.array(sum(bm25.values()))))
        return {"score": score, "terms": _terms(bm25, text), "law": law, "factors": told}
    score = {name: value for name, value in score.items() if value}
    weights = {name: TERM_WEIGHTS[name] for name in score if name in TERM_WEIGHTS}
    return {
        "score": score,
        "weights": weights,
        "terms": _terms(bm25, score.get("text", 0.0)),
        "law": law,
        "factors": told,
    }


def _tell_more(
    this: RunningSearch, ranked: Ranked, row: int, replaced: Mapping[int, list[str]], explained: Explanation
) -> None:
    """What an explanation tells only where there is something to tell."""
    if row in replaced:
        explained["replaces"] = replaced[row]
    if row in ranked.ways:
        explained["path"] = path_told(this.view.columns, ranked.ways[row])
    if this.request.filters.tags or this.request.filters.feeling is not None:
        explained["tags"] = list(this.view.context(row).tags)


def _terms(bm25: Mapping[str, float], text: float) -> dict[str, float]:
    """What each term of the query brought to the text score as it is told."""
    whole = sum(bm25.values())
    return {term: round(value / whole * text, 6) for term, value in bm25.items()}


def understood_as(this: RunningSearch, plan: Plan) -> Understood:
    """Whom and what times the question names, as far as they count in the ranking; and its parts, where each has its share."""
    told = _named(this)
    if plan.parts:
        told["parts"] = list(plan.parts)
    return told


def _named(this: RunningSearch) -> Understood:
    reading, columns, shown = this.reading, this.view.columns, this.seen.shown
    if reading is None:
        return {"times": [], "speakers": []}
    said = columns.created_at[shown] if reading.times.phrases else shown[:0]
    within = (int(said.min()), int(said.max())) if said.size else None
    index = this.view.conversation
    rows = [int(np.argmax(shown & (index.speaker[: shown.size] == speaker))) for speaker in reading.speakers]
    return {
        "times": told(reading.times, this.query, within),
        "speakers": [speaker for row in rows if (speaker := columns.memories[row].speaker) is not None],
    }


def widened(this: RunningSearch) -> Expanded:
    """What else the question's keywords are looked for by."""
    found = expanded(this.view, this.query)
    if this.request.ranking not in BY_MEANING:  # the others go by the words as they are
        return {"original": list(found.original), "synonyms": {}, "related": {}}
    synonyms, related = ({word: dict(alike) for word, alike in part.items()} for part in found[1:])
    return {"original": list(found.original), "synonyms": synonyms, "related": related}


def embedded(sense: Sense) -> MeaningCompared:
    """Which model, and how many of the memories that hold text have vectors of it."""
    return {"model": sense.model, "embedded": int(sense.known.sum()), "of": sense.wanted}


def withheld(this: RunningSearch) -> list[Withheld]:
    """How many matches were left out, by reason, with the best of them by id."""
    view, seen, matches = this.view, this.seen, this.matches
    left = np.flatnonzero(seen.reasons[matches.rows] >= 0)
    if not this.allowed.is_open:
        left = left[this.allowed.passing(matches.rows[left])]
    withheld = np.full(len(view.columns), -1, dtype=np.int8)
    withheld[matches.rows[left]] = seen.reasons[matches.rows[left]]
    # Secrets stand in no index, so which of them match is not known: every one is told, in debug mode too.
    withheld[secrets(view.columns)] = REASONS.index("sensitive")
    left = left[np.argsort(-matches.scores[left], kind="stable")]
    answer: list[Withheld] = []
    for one in reasons_told(withheld, this.asked.mode):
        number = REASONS.index(one["reason"])
        rows = [row for row in matches.rows[left].tolist() if withheld[row] == number][:MOST_WITHHELD]
        ids = [] if one["reason"] == "sensitive" else [view.columns.memories[row].id for row in rows]
        answer.append({**one, "ids": ids})
    return answer


def ranking_of(asked: ViewQuery, query: str, request: SearchRequest, sense: Sense | None = None) -> Ranking:
    """All matches that the mode shows and the filters let through, with their scores."""
    this, (ranked, replaced) = with_long_ago(whole := understood(asked, query, request, sense), _current_first)
    if this.reading is None or not request.parts or (request.search_mode == "semantic" and this.sense is not None):
        return Ranking(this, _relevant(this, ranked), replaced)

    def ranks(part: str) -> Lifted:
        return with_long_ago(part_understood(whole, part), _current_first)[1]

    found = shared(this, ranked, replaced, plan_of(this), ranks)
    if request.expansions:
        found = fused(this, found, ranks)
    return Ranking(this, _relevant(this, found.ranked), found.replaced, found.plan)


def search(
    asked: ViewQuery,
    query: str,
    limit: int,
    request: SearchRequest = PLAIN,
    sense: Sense | None = None,
    offset: int = 0,
) -> UnplacedFound:
    """The best `limit` matches after `offset` that the mode shows, each with its reasons, and what was withheld.

    `sense`: the question's meaning; without, hybrid goes by words. How many results there are in all is told as `total`.
    """
    this, ranked, replaced, plan = ranking_of(asked, query, request, sense)
    pages = best(ranked.scores, ranked.rows, offset + limit)
    answer: UnplacedFound = {
        "results": results(this, ranked, pages[offset:], replaced, plan),
        "total": int(ranked.rows.size),
        "search_mode": this.request.search_mode,
        "understood": understood_as(this, plan),
        "expanded": widened(this),
        "meaning": None if this.sense is None else embedded(this.sense),
        "withheld": withheld(this),
        "offset": offset,
        "next": None,
        "mode": asked.mode,
    }
    if request.associations:
        near = seeds_of(direct(this))
        shown = set(ranked.rows[pages].tolist())
        answer["associated"] = brought_to_mind(asked, query, near, shown, this.seen, admits(this))
    return answer


def _ranked(this: RunningSearch) -> Ranked:
    request, asked, seen = this.request, this.asked, this.seen
    if this.reading is not None:
        passing = None if this.allowed.is_open else this.allowed.passing
        asking = None
        if this.sense is not None:
            asking = conversation.Asking(this.query, this.sense, request.search_mode == "semantic")
        ranked = conversation.rank(this.view, this.reading, seen.shown, seen.weights, passing, asking)
    elif request.ranking == "published":
        ranked = by_published(asked, this.query, this.matches, seen, this.allowed, request, this.sense)
    elif request.ranking == "overlap":
        ranked = by_overlap(asked, this.query, direct(this), request.near_project)
    elif request.ranking == "associative":
        ranked = by_activation(asked, this.query, direct(this), seen, this.allowed)
    else:
        ranked = by_text(direct(this), seen)
    tags = request.filters.tags
    if tags and ranked.rows.size:
        held = [asked.view.context(int(row)).tags for row in ranked.rows]
        share = np.round(WEIGHT_SHARE * np.array([contextual_match(tags, one) for one in held]), 6)
        ranked = ranked._replace(scores=ranked.scores + share, parts={**ranked.parts, "context": share})
    return ranked


def _current_first(this: RunningSearch) -> tuple[RunningSearch, Lifted]:
    """What replaced a match stands above it, under the rankings by text; those of the sources stay as published."""
    this, vacated = without_corrected(this, _ranked)
    vacated = vacated._replace(ranked=behind_evidence(this, vacated.ranked))
    if this.request.ranking not in FOLLOWING:
        return this, Lifted(vacated.ranked, {})
    return this, with_successors(this, vacated, lending(this))


def _relevant(this: RunningSearch, ranked: Ranked) -> Ranked:
    """What is at least as relevant as asked for, of the best; everything where nothing is asked."""
    least = this.request.filters.least_relevance
    if least <= 0 or not ranked.rows.size:
        return ranked
    order = best(ranked.scores, ranked.rows, MOST_PUBLISHED)
    rows = ranked.rows[order]
    kept = order[
        relevance_of(this.asked, this.query, rows, plain_bm25(this, rows), this.request, this.sense).whole >= least
    ]
    return ranked.only(kept)
