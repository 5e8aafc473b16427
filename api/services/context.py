"""Context for a prompt: working memory, core, what may matter, tool context, in a block of so many tokens.

What was injected is recorded, so that one can ask later which answers used a memory (`api.services.uses`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

from api.choices import BUDGET
from api.requests.checks import check_id_of, check_owner
from api.requests.context_wanted import context_wanted
from api.requests.speaking import caller_in_hand, telling_in_hand
from api.requests.talking import TalkAsked, read_talk
from api.requests.timelines import LineTerms, told_lines
from api.services.accesses import AccessRecorder, BlockRequest, Read
from api.services.looking.context_made import MadeBlock, SearchedQuery, made_of, told_parts, with_parts
from api.services.reading import Reader
from events.errors import AccessDenied
from events.log import EventLog
from projections.choices import MOST_SEARCHES, THRESHOLD, WORKING_MESSAGES
from projections.language.asking.parts import asks
from projections.language.prompt_text import TokenCount, estimated_tokens
from projections.prompt.gathering import Wanted
from projections.prompt.lines import sensitivity_allowed
from projections.prompt.recipe import Handed, Searching, recipe
from projections.ranking.proactive import searches
from projections.redis.view import RedisViews
from projections.shapes import ContextBlock, Recorded

CANDIDATES = 20
"""Results of a search that are looked at: some of them may not stand in a prompt."""


TRIES = 3
"""How often what was said is read anew where events were folded between it and the memories."""


class Contexts:
    """Builds context blocks of one store's owners. Safe for threads.

    `count`: tokens of a text, where a model's own tokenizer is at hand; estimated otherwise.
    """

    def __init__(
        self,
        log: EventLog,
        views: RedisViews,
        reader: Reader,
        accesses: AccessRecorder,
        count: TokenCount = estimated_tokens,
    ) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._accesses = accesses
        self._count = count
        self.on_injected: Callable[[float], None] = lambda _closeness: None
        """Told how close each memory is that a search brought into a block which is recorded as injected."""

    def context(
        self,
        owner: str,
        text: str,
        *,
        session: str | None = None,
        turn_id: str | None = None,
        budget: int = BUDGET,
        proactive: bool = True,
        threshold: float = THRESHOLD,
        searches: int = MOST_SEARCHES,
        whole: bool | None = None,
        messages: int = WORKING_MESSAGES,
        sensitive: bool = False,
        language: str | None = None,
        include_faded: bool | None = None,
        trust: str | None = None,
        split: bool = False,
        stable_budget: int | None = None,
        trace: bool = True,
        inspect: bool = False,
        **times: Unpack[LineTerms],
    ) -> ContextBlock:
        """The block to put into a prompt before `text` is answered, and everything in it by id.

        `whole`: fill the block with what answers a question, whatever the threshold; or (false) with the five closest at most.
        `messages`: how many of working memory, 0 where the agent has them anyway. `sensitive`: also texts of sensitivity 2.
        `trace`: record the memories as injected, once for a turn; of the past nothing is, for no model is handed that block.
        `inspect`: somebody only looks at the block: that is recorded instead, and no memory gains by it.
        `trust`: nothing that is trusted less stands in it, but for what was said in this conversation.
        `split`: in two parts, `stable`, the same bytes from turn to turn while nothing about its memories changes, and `turn`;
        `stable_budget`: tokens of the budget that the first may take, two fifths unless told. `block` is then both.
        `include_faded`: as a search has it; what is long ago stands below what is fresh, and says so.
        A block about the past is the one of then, but for what was deleted since or is held to be more sensitive today.
        Raises InputError naming the field, AccessDenied where the caller asks for texts that he is not told.
        """
        check_owner(owner)
        if sensitive:
            _check_told()
        wanted = context_wanted(
            text, budget, threshold, searches, messages, sensitive, language, trust, split, stable_budget
        )._replace(whole=whole)
        for field, value in (("session", session), ("turn_id", turn_id)):
            if value is not None:
                check_id_of(field, value)
        with self._reader.snapshot(owner, **times) as snapshot:  # waits until `after` is folded: the log is read next
            past = snapshot.past
        lines = LineTerms(as_of=times.get("as_of"), known=times.get("known"))
        expand = whole is not False and (whole is True or asks(text))
        most = sensitivity_allowed(sensitive)
        found = (
            self._searched(
                owner, text, searches, lines, expand=expand, most_sensitive=most, include_faded=include_faded
            )
            if proactive
            else []
        )
        request = TalkAsked(owner, text, session, turn_id)
        for tried in range(1, TRIES + 1):
            said = read_talk(self._views, self._log.partitions, request, past)
            with self._reader.snapshot(owner, **lines) as snapshot:
                if past is None and said.applied != snapshot.view.state.applied and tried < TRIES:
                    continue  # folded meanwhile: the conversation and the memories would be of two instants
                made = made_of(snapshot, said, found, request, wanted, self._count)
                break
        block, talk, halves = made.block, made.talk, made.halves
        if not trace or past is not None:
            recorded: Recorded = {"status": "off"}
        elif inspect:
            self._accesses.record(owner, block.memories, via="inspection", query=text, read=Read(snapshot.position))
            recorded = {"status": "inspected"}
        else:
            recorded = self._recorded(
                made, found, request, wanted, Searching(proactive, searches, include_faded, trust)
            )
            for line in made.block.parts["retrieved"] if recorded["status"] == "appended" else ():
                if line.relevance is not None:
                    self.on_injected(line.relevance)
        return {
            "owner": owner,
            "block": block.text,
            "stable": None if halves is None else halves.stable.block.text,
            "turn": None if halves is None else halves.turn.text,
            "sizes": made.sizes,
            "tokens": block.tokens,
            "budget": budget,
            "language": wanted.language,
            "session": talk.session,
            "turn_id": talk.turn_id,
            "parts": with_parts(told_parts(made.time, block), found),
            "injected": block.memories,
            "recorded": recorded,
            "searches": [one.told(made.close_enough[at]) for at, one in enumerate(found)],
            "dropped": block.dropped,
            "left_out": made.left_out,
            "read_back": "all" if said.whole else "part",
            **told_lines(times),
            **snapshot.place,
        }

    def _searched(
        self, owner: str, text: str, most: int, lines: LineTerms, *, expand: bool, **terms: Any
    ) -> list[SearchedQuery]:
        """One search for each query; leaves no trace of its own. `expand`: the first, the whole turn, in other words too."""
        answers = {
            query: self._reader.search(
                owner,
                query,
                limit=CANDIDATES,
                trace=False,
                reasons=False,
                expand=expand and at == 0,
                **terms,
                **lines,
            )
            for at, query in enumerate(searches(text, most))
        }
        return [
            SearchedQuery(
                query,
                answer["results"],
                {one["reason"]: one["count"] for one in answer["withheld"]},
                answer["understood"].get("parts") or [],
                answer["understood"].get("expansion"),
            )
            for query, answer in answers.items()
        ]

    def _recorded(
        self, made: MadeBlock, found: list[SearchedQuery], request: TalkAsked, wanted: Wanted, searching: Searching
    ) -> Recorded:
        """Record what is new in the block for this turn: asked again, nothing is."""
        block, talk, text = made.block, made.talk, request.text
        fresh = [one for one in block.memories if one not in talk.injected]
        if not fresh:
            return {"status": "already" if block.memories else "nothing"}
        profile = [line.id for line in block.parts.get("profile", [])]
        retrieved = {line.id for line in block.parts["retrieved"]} & set(fresh)
        first = ([hit["id"] for hit in one.results[:3] if hit["id"] in retrieved] for one in found)
        place = ("turn", talk.turn_id) if talk.turn_id else ("text", talk.session or "", str(talk.last_seq))
        stable = None if made.halves is None else made.halves.stable
        handed = Handed(block.text, block.tokens, made.now, made.upto, made.close, stable)
        receipt = self._accesses.inject(
            request.owner,
            [one for one in fresh if one not in profile],
            beside=[one for one in fresh if one in profile],
            key=place,
            asked=None if talk.turn_id else BlockRequest(text, talk.last_seq),
            together=next((hits for hits in first if len(hits) > 1), ()),
            turn_id=talk.turn_id,
            session_id=talk.session,
            read=Read(made.position),
            made=partial(recipe, handed, text, wanted, searching),
        )
        if receipt is None or receipt.position is None:
            return {"status": "lost"}
        return {"status": "appended" if receipt.status == "appended" else "already", "position": receipt.position}


def _check_told() -> None:
    """Raises AccessDenied where the caller in hand is told no sensitive texts."""
    telling = telling_in_hand()
    if telling is not None and telling.by_sensitivity:
        raise AccessDenied(
            f"access: got sensitive true; allowed for this key: false, for it is told memories up to sensitivity {telling.most}",
            field="sensitive",
            principal=caller_in_hand().name,
        )
