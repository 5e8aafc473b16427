"""The weights and settings of the conversation ranking, in one place; none is an owner's parameter."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from engramlog_server.projections.ranking.conversation_dates import DateShares


@dataclass(frozen=True, slots=True)
class Weights:
    """The most that each term adds to a score. Fitted together; docs/design.md has the figures they rest on."""

    text: float = 2.8
    """BM25 of the turn's own text, over the best shown turn's."""
    meaning: float = 2.8
    """Nearness to the question, in hybrid and semantic: with it, `text` adds so much less. The same as `text`'s."""
    focus: float = 0.9
    """text x the same of the question's last sentence; text x text where it has only one: lifts a clear winner."""
    phrase: float = 1.2
    """Pairs of the question's terms that stand side by side in the turn, by rarity, over the best turn's."""
    thread: float = 3.2
    """(1 - long) x text of the turn before the previous one: in a chat of two, the same speaker's."""
    neighbour: float = 2.1
    """long x the better text of the two neighbours."""
    answer: float = 1.9
    """text of the previous turn, if that ends in a question by another speaker."""
    session: float = 2.3
    """text of the best turn of the session."""
    opening: float = 1.7
    """e^(-place in the session / 3): news are told first."""
    asks: float = -3.0
    """The turn holds a question; in a dialogue this counts for a share."""
    summary: float = -2.0
    """It sums up a session: it has words of many turns, and answers less than what says one thing."""
    assistant: float = 6.4
    """The question asks what the assistant said, and the assistant said this."""
    user: float = 3.1
    """The user said this, in a log where an assistant speaks too."""
    stated: float = 3.0
    """The user stated this by itself, in a log of turns: a statement says one thing, and means it."""
    speaker: float = 1.1
    """The question names this turn's speaker, as the first it names."""
    self: float = 0.9
    """The question names a speaker, and the turn speaks of I, my, we."""
    date: float = 6.1
    """How well the turn's day fits the day, month or span that the question names."""
    when: float = 1.0
    """Asked when, and the turn has a word of time."""
    many: float = 1.6
    """Asked how many, and the turn has a number."""
    window: float = 2.5
    """(1 - long) x how near the turn is, its neighbours' words taken for its own where these are nearer."""
    asked: float = 1.5
    """(1 - long) x (1/4 + 3/4 window of the turn before the previous), if the previous, another's, asks for the question's kind of
    thing: a place, a time, a reason."""
    standing: float = 4.0
    """Nearness of a turn in which the user asks for something for good."""
    prefers: float = 2.0
    """Asked for advice: nearness of a turn in which the user says what he likes better."""
    weight: float = 0.05
    """w / (1 + w) of the weight under the owner's law: orders near-ties, and buries no right answer."""


@dataclass(frozen=True, slots=True)
class RankingConstants:
    """What is fixed beside the weights; none is an owner's parameter."""

    k1: float = 1.4
    """BM25's, as everywhere."""
    note_b: float = 0.8
    """BM25's b where there is no dialogue; in a dialogue it is `long`."""
    most_times: int = 2
    """A term that the question has more often counts so many times."""
    framing_share: float = 0.4
    """What a word counts that says where to look or how to answer, where the question has others."""
    asked_alone: float = 0.25
    """What the previous turn's question counts where nothing near was said before it."""
    thread_less: float = 0.22
    """Share of `thread` that goes, in talk of short turns, where `window` and `asked` tell what goes on from a match ..."""
    phrase_less: float = 0.42
    """... and of `phrase`."""
    asks_in_dialogue: float = 1 / 6
    """Share of `asks` that counts in a dialogue."""
    synonym_share: float = 0.4
    """What a synonym of a term counts, times its similarity."""
    dialogue_from: float = 0.2
    """More than this share of the memories follow another speaker's: a dialogue."""
    spread_from: float = 0.5
    """Standard deviation of ln(length) from which a dialogue's turns begin to be `long` ..."""
    spread_to: float = 1.0
    """... and at which they fully are: a line asked, a page answered."""
    candidates: int = 300
    """Memories for which all terms are computed."""
    first_neighbours: float = 0.5
    """Share of each neighbour's text in the rough score."""
    first_date: float = 0.5
    """Share of the date in it."""
    dates: DateShares = field(default_factory=DateShares)


WEIGHTS, SETTINGS = Weights(), RankingConstants()
TERM_WEIGHTS: dict[str, float] = asdict(WEIGHTS)
"""The weights by the name of their term."""
ADMITTING = ("text", "meaning", "thread", "neighbour", "answer", "date")
"""Terms any of which makes a memory a result: the others only order."""
