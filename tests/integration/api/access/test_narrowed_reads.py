"""What a caller is told whose grants read by mode normal alone, or up to a ceiling: no word that a search or a list hides from him.

Every text is a word of its own. What is hidden from a caller is every word that stands in no memory that a list in normal mode
shows up to his ceiling; then every read of the table of needs is asked, and none of these words may stand anywhere in an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.api.access import NEEDS, By
from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.events.catalogue import Verb
from engramlog_server.events.errors import AccessDenied, NotFound
from engramlog_server.projections.access.caller import Caller, check_grant
from engramlog_server.projections.access.keys import as_grant
from engramlog_server.projections.memory.record import SECRET
from tests.given.http import HttpStore, created, event, http_store

OWNER_NUMBERS = count()
NAMES = ("a", "b", "c", "d", "e", "f")
OLD = NAMES[-1]
PARTS = ("text", "key", "new", "why", "subject", "object", "condition")
JOINED = ("key", "subject", "object", "condition")
"""What a merge has of its sources."""
QUOTING = ("reader.search", "knower.assess", "contexts.context", "reader.why")
"""What tells the question again."""
DAY = "2026-02-{:02d}T08:00:00Z"
VERBS: tuple[Verb, ...] = ("read", "produce")
Call = Callable[[Any, str, str, str], Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("narrow")) as found:
        yield found


def _pieces(found: Any) -> list[str]:
    return [piece.decode() for piece in found.pieces()]


def _revealed(app: Any, owner: str, memory: str, _word: str) -> Any:
    return app.revealer.get(owner, memory, By("http"))


def _held_open(app: Any, owner: str, memory: str, _word: str) -> Any:
    with app.reader.snapshot(owner) as snapshot:
        found = snapshot.view.get(memory)
        return None if found is None or found.sensitivity >= SECRET else [found.content, found.keywords]


CALLS: dict[str, Call] = {
    "reader.search": lambda app, owner, _memory, word: app.reader.search(owner, word, limit=50, associations=True),
    "reader.list": lambda app, owner, _memory, _word: app.reader.list(owner),
    "reader.get": lambda app, owner, memory, _word: app.reader.get(owner, memory),
    "reader.snapshot": _held_open,
    "reader.why": lambda app, owner, memory, word: app.reader.why(
        owner, memory, above="absent" if memory == "a" else "a", query=word
    ),
    "reader.history": lambda app, owner, memory, _word: [app.reader.history(owner, memory), app.reader.history(owner)],
    "reader.provenance": lambda app, owner, memory, _word: app.reader.provenance(owner, memory),
    "counter.counts": lambda app, owner, _memory, _word: app.counter.counts(owner),
    "knower.assess": lambda app, owner, _memory, word: app.knower.assess(owner, f"what of {word} is known"),
    "knower.associations": lambda app, owner, memory, _word: app.knower.associations(
        owner, memory, depth=4, mode="normal"
    ),
    "knower.map": lambda app, owner, _memory, _word: app.knower.map(owner, depth=4, least=0.0),
    "facts.facts": lambda app, owner, _memory, _word: app.facts.facts(owner),
    "synonyms.synonyms": lambda app, owner, _memory, _word: app.synonyms.synonyms(owner),
    "time_lines.times": lambda app, owner, _memory, _word: app.time_lines.times(owner),
    "contexts.context": lambda app, owner, _memory, word: app.contexts.context(owner, f"tell me about {word}"),
    "living.profile": lambda app, owner, _memory, _word: app.living.profile(owner),
    "living.health": lambda app, owner, _memory, _word: app.living.health(owner),
    "living.fading": lambda app, owner, _memory, _word: app.living.fading(owner),
    "living.review": lambda app, owner, _memory, _word: app.living.review(owner, min_importance=0.0),
    "owner_heads.heads": lambda app, owner, _memory, _word: app.owner_heads.heads(owner),
    "operator.stats": lambda app, owner, _memory, _word: app.operator.stats(owner),
    "owners.owners": lambda app, _owner, _memory, _word: app.owners.owners(),
    "keys.me": lambda app, _owner, _memory, _word: app.keys.me(),
    "records.export": lambda app, owner, _memory, _word: [
        _pieces(app.records.export(owner, ExportOptions(), form)) for form in ("jsonl", "text")
    ],
    "revealer.get": _revealed,
    "revealer.export": lambda app, owner, _memory, _word: _pieces(
        app.revealer.export(owner, ExportOptions(), By("http"))[0]
    ),
    "comparer.curves": lambda app, owner, memory, _word: app.comparer.curves(owner, memory),
    "answers.uses": lambda app, owner, memory, _word: app.answers.uses(owner, memory),
}
"""Every call whose answer is narrowed, and how it is asked about a memory."""
ABOUT_ONE = (
    "reader.snapshot",
    "reader.search", "reader.get", "reader.why", "reader.history", "reader.provenance",
    "knower.associations", "revealer.get", "comparer.curves", "answers.uses", "contexts.context", "knower.assess",
)  # fmt: skip


def caller_of(*grants: dict[str, Any], key_id: str = "abcdefgh") -> Caller:
    return Caller("agent", (tuple(check_grant(as_grant(one)) for one in grants),), key_id)


def reading(owner: str, most: int = 2, *modes: str, verbs: tuple[str, ...] = VERBS) -> dict[str, Any]:
    return {"verbs": list(verbs), "owners": [owner], "modes": list(modes) or ["normal"], "sensitivity": most}


def word_of(owner: str, memory: str, part: str = "text") -> str:
    """A word that stands in one part of one memory of one owner alone."""
    return f"zq{owner}{memory}{part}x"


def _history(owner: str, steps: list[tuple[str, int, int]]) -> list[dict[str, Any]]:
    """Events of six memories of any sensitivity, the last of them old, and of what came over them."""

    def word(memory: str, part: str = "text") -> str:
        return word_of(owner, memory, part)

    made = list[dict[str, Any]]()
    told: dict[str, Any]
    for at, (name, level) in enumerate(zip(NAMES, (0, 1, 2, 3, 0, 0), strict=True)):
        old: dict[str, Any] = {"at": "2019-01-01T08:00:00Z", "category": "fact", "confidence": 0.1, "importance": 0.1}
        firm: dict[str, Any] = {"at": DAY.format(1 + at), "confidence": 0.9, "importance": 3.0}
        text = f"I keep {word(name)} with the garden"
        told = old if name == OLD else firm
        begun = created(name, text, owner=owner, sensitivity=level, keywords=[word(name, "key")], **told)
        made.append(begun | {"session_id": f"s{at % 2}"})
    for at, (what, one, other) in enumerate(steps):
        first, second, day = NAMES[one], NAMES[other], DAY.format(8 + at)
        about: dict[str, Any] = {"owner": owner, "key": at, "at": day}
        why = f"because of {word(first, 'why')}"
        match what:
            case "negate":
                made.append(event("MemoryNegated", **about, memory_id=first, resolution="version_keep", reason=why))
            case "correct" if first != second:
                told = {"correction": f"I keep {word(second)} with the garden", "replaced_by": second}
                made.append(
                    event("MemoryNegated", **about, memory_id=first, resolution="latest_wins", reason=why, **told)
                )
            case "delete":
                made.append(event("MemoryDeleted", **about, memory_id=first, reason=why))
            case "merge" if first != second:
                into = f"m{at}"
                told = {"summary": f"both keep {word(into)}", "reason": f"both say {word(into, 'why')}"}
                made.append(event("MemoryMerged", **about, sources=[first, second], into=into, **told))
            case "revise":
                new = f"I keep {word(first, 'new')} instead"
                made.append(event("MemoryRevised", **about, memory_id=first, content=new))
            case "link" if first != second:
                made.append(event("MemoriesLinked", **about, a=first, b=second, weight=0.8, link="task"))
            case "fact":
                told = {"subject": word(first, "subject"), "predicate": "stands by", "object": word(first, "object")}
                told["condition"] = f"if {word(first, 'condition')}"
                made.append(event("FactAsserted", **about, evidence=[first], **told))
            case "raise":
                made.append(event("SensitivitySet", **about, memory_id=first, level=1 + other % 3, reason="so it is"))
    return made


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("negate", "correct", "delete", "merge", "revise", "link", "fact", "raise", "aside")),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    max_size=10,
)


def _text(answer: Any) -> str:
    return orjson.dumps(answer, default=str).decode()


def _in_normal_mode(store: HttpStore, owner: str) -> set[str]:
    """What a list shows, and what a search brings up beside it because it is long ago."""
    reader = store.application.reader
    found = reader.search(owner, "keep", limit=100, include_faded=True, trace=False)["results"]
    return {one["id"] for one in (*reader.list(owner, limit=1_000)["memories"], *found)}


def _hidden(store: HttpStore, owner: str, ids: list[str], most: int) -> set[str]:
    """Every word of what neither a list nor a search in normal mode shows up to a ceiling."""
    reader = store.application.reader
    told = [reader.get(owner, one, trace=False) for one in _in_normal_mode(store, owner)]
    shown = {one["id"] for one in told if one["sensitivity"] <= most}
    merged = {name for one in told if one["id"] in shown for name in one["merged_from"]}
    return {
        word_of(owner, name, part)
        for name in ids
        if name not in shown
        for part in PARTS
        if name not in merged or part not in JOINED
    }


def leaks(
    store: HttpStore, owner: str, steps: list[tuple[str, int, int]], most: int
) -> list[tuple[str, str, set[str]]]:
    """Call, memory asked about and hidden words told, of every read of an owner with such a history, up to a ceiling."""
    store.told(owner, *_history(owner, steps))
    for what, _, other in steps:
        if what == "aside":
            store.application.sources.set_aside(owner, session=f"s{other % 2}", reason="nobody knows them")
    ids, found = (
        [*NAMES, *(f"m{at}" for at, one in enumerate(steps) if one[0] == "merge")],
        list[tuple[str, str, set[str]]](),
    )
    beside = [reading(owner, 2, verbs=("replay", "audit"))] if most == 2 else []
    app = store.application.for_(caller_of(reading(owner, most), *beside))
    hidden = _hidden(store, owner, ids, most)
    for name, call in CALLS.items():
        for memory in ids if name in ABOUT_ONE else ids[:1]:
            asked = word_of(owner, memory)
            with suppress(NotFound, AccessDenied):
                answer = call(app, owner, memory, asked)
                told = {word for word in hidden if word in _text(answer)} - ({asked} if name in QUOTING else set())
                if told:
                    found.append((name, memory, told))
    return found


def test_every_call_whose_answer_is_narrowed_is_asked_here() -> None:
    narrowed = {call for call, need in NEEDS.items() if need.told is not None}

    assert narrowed <= set(CALLS), sorted(narrowed - set(CALLS))
    assert set(CALLS) <= {call for call, need in NEEDS.items() if need.verb in ("read", "reveal") or need.told}


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, most=st.sampled_from((0, 1, 2)))
def test_no_read_tells_a_word_that_normal_mode_hides_up_to_the_ceiling(
    store: HttpStore, steps: list[tuple[str, int, int]], most: int
) -> None:
    assert leaks(store, f"o{next(OWNER_NUMBERS)}y", steps, most) == []
