"""Extraction carried out: one piece of an owner's turns after the other is read, and what follows is appended.

One request holds what a piece leads to and the mark that it is read: killed anywhere and run again, nothing is done twice and no
turn is lost. While a model thinks no view is held; its answer is judged on the newest state, whatever was said meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any

from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs, LifecycleRun
from engramlog_server.events.catalogue import TurnsExtracted
from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.owner import ReadTurns
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.extraction import (
    RULES,
    asked_before,
    extractions,
    first_unread,
    turns_before,
    unkept,
    unread_turns,
)
from engramlog_server.projections.lifecycle.judge.known import Candidates
from engramlog_server.projections.lifecycle.judge.proposals import (
    LOOKED_BACK,
    MOST_TURNS,
    Answer,
    Checked,
    Talk,
    by_rules,
    judge_proposed,
    next_unread,
    read_by_model,
    said_around,
    still_standing,
    talk_about,
)
from engramlog_server.projections.lifecycle.judge.statements import ReadTurn, Verdict
from engramlog_server.projections.memory.deletion import deleted_turns
from engramlog_server.projections.memory.working_memory import Said, Turn
from engramlog_server.projections.models.chat import Chat, ModelUsage, prompt
from engramlog_server.projections.redis.said import said_from
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.view import OwnerView

PROMPT = "extract-1"
"""Version of the prompt, told with every mark."""
SAID_BEFORE, ASKED_BEFORE = 64, 8
"""Events before the first unread turn that are looked at for the talk around it."""
GIVEN_UP = 3
"""Turns in a row that a model has no usable answer for, after which it is asked no more in this run."""
OnProgress = Callable[[int, int], None]


@dataclass(slots=True)
class ExtractionRun:
    """What a run came to for one owner."""

    owner: str
    by: str
    done: LifecycleRun
    read: int = 0
    """Turns that were read."""
    left: int = 0
    """Turns that are still to be read."""
    by_rules: list[str] = field(default_factory=list)
    """Turns that the model had no usable answer for, so that rules read them."""
    refused: dict[str, str] = field(default_factory=dict)
    """Turns of which every operation that the model proposed was refused -> the last reason. They are read nonetheless."""
    usage: ModelUsage = field(default_factory=ModelUsage)
    """What asking took, also where nothing followed from it."""
    trouble: ModelFailed | None = None
    """Why the model was asked no more."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        told = self.done.as_dict()
        told["counts"].pop("read", None)
        told["decisions"] = [one for one in told["decisions"] if one["action"] != "read"]
        return told | {
            "by": self.by,
            "read": self.read,
            "left": self.left,
            "by_rules": self.by_rules,
            "refused": self.refused,
            "usage": self.usage._asdict(),
            "trouble": None if self.trouble is None else self.trouble.message,
        }


class ExtractionJob:
    """Reads the turns of owners on one store. `chat` asks a model; without it rules read."""

    def __init__(
        self,
        views: RedisViews,
        lifecycle: LifecycleJobs,
        chat: Callable[[], Chat] | None = None,
        seen: MutableMapping[str, int] | None = None,
    ) -> None:
        """`seen`: owner -> how many of its events were looked through for turns without a memory; a process keeps it."""
        self._views = views
        self._lifecycle = lifecycle
        self._chat = chat
        self._seen = {} if seen is None else seen

    def extract(
        self,
        owner: str,
        *,
        stop: Callable[[], bool] = lambda: False,
        on_progress: OnProgress = lambda _done, _total: None,
        check: Check = unchecked,
    ) -> ExtractionRun:
        """Read what is unread; `on_progress` gets turns read, and of how many. `stop` is asked before every piece.

        `check` is asked everywhere between steps; where it raises, what was read stays read.

        A model that fails ends the run in a state that is told (`trouble`, `left`): what was read stays read, and the next run goes
        on. Raises BadSetting where the model cannot be asked at all, OwnerQuarantined, ConcurrencyError, StoreError.
        """
        chat = None if self._chat is None else self._chat()
        run = _Run(self._views, self._lifecycle, chat, owner, on_progress, self._seen, check)
        if chat is None:
            run.by_rules()
        else:
            run.by_model(chat, stop)
        return run.found

    def rehearse(self, owner: str, *, check: Check = unchecked) -> tuple[list[Verdict], ExtractionRun]:
        """What the next piece would become by the model, and what asking took. Appends nothing; raises ModelFailed too."""
        assert self._chat is not None, "rules are rehearsed from a view alone"
        run = _Run(self._views, self._lifecycle, self._chat(), owner, lambda _done, _total: None, {}, check)
        return run.rehearsed(), run.found


class _Run:
    """One run over an owner's unread turns."""

    def __init__(
        self,
        views: RedisViews,
        lifecycle: LifecycleJobs,
        chat: Chat | None,
        owner: str,
        on_progress: OnProgress,
        seen: MutableMapping[str, int],
        check: Check,
    ) -> None:
        self._check = check
        self._views, self._lifecycle, self._chat, self._seen = views, lifecycle, chat, seen
        self._owner, self._on_progress = owner, on_progress
        self.found = ExtractionRun(owner, RULES if chat is None else chat.model, LifecycleRun(owner))
        self._said: list[Said] | None = None
        self._places: dict[str, int] = {}
        self._most = MOST_TURNS
        self._helpless = 0
        self._spent = ModelUsage()
        """What was spent since the last mark."""

    def by_rules(self) -> None:
        """All at once."""
        read = self._keep_turns()
        first = self._lifecycle.look(self._owner, lambda view, _: first_unread(view), check=self._check)
        asked = asked_before(said_from(self._views, self._owner, first, ASKED_BEFORE, self._check))
        planner = partial(_by_rules, read=read, check=self._check, alike=self._lifecycle.alike, asked=asked)
        part = self._lifecycle.carry_out_plan(self._owner, planner, on_progress=self._on_progress, check=self._check)
        self._append(part)
        made = _mark(part)
        self.found.read = 0 if made is None else made.turns

    def by_model(self, chat: Chat, stop: Callable[[], bool]) -> None:
        """A piece after the other, until nothing is unread, `stop` says so, or the model fails."""
        self._keep_turns()
        self.found.left = self._lifecycle.look(self._owner, _unread, check=self._check)
        while True:
            read = self._keep_turns()
            talk = self._lifecycle.look(self._owner, self._next, check=self._check)
            if talk is None or stop():
                break
            self._check(self.found.read, self.found.read + self.found.left)
            answer, trouble = self._ask(chat, talk)
            if trouble is not None and (trouble.down or self._helpless >= GIVEN_UP):
                self.found.trouble = trouble
                break
            if answer is None and len(talk.unread) > 1:
                self._most = max(1, len(talk.unread) // 2)  # one text may be what it cannot answer about
                continue
            self._decide(chat, talk, answer, read)
        self.found.left = self._lifecycle.look(self._owner, _unread, check=self._check)

    def rehearsed(self) -> list[Verdict]:
        """What the next piece would become. Raises ModelFailed."""
        assert self._chat is not None
        talk, unread = self._lifecycle.look(self._owner, lambda view, now: (self._next(view, now), _unread(view, now)))
        if talk is None:
            return []
        answer, trouble = self._ask(self._chat, talk)
        if answer is None:
            assert trouble is not None
            raise trouble
        by = self._chat.model
        self.found.read, self.found.left = len(talk.unread), unread - len(talk.unread)
        return self._lifecycle.look(
            self._owner, lambda view, _: judge_proposed(talk, answer, _heard(view, talk), view, by)
        )

    def _keep_turns(self) -> ReadTurns:
        """Give the turns of people that are in the log only memories of their own. Gives the mark that this came after.

        Looked at is what came after the mark before the last, since a turn may be recorded while a mark is made; of that
        only what this process has not looked at.
        """
        read, applied = self._lifecycle.look(
            self._owner, lambda view, _: (view.state.read, view.state.applied), check=self._check
        )
        seen = self._seen.get(self._owner, 0)
        since = max(read.before, seen) if seen <= applied else read.before
        if applied > since:
            tail = self._views.tail(self._owner, since, self._check)
            at = since - tail.start
            said = said_from(self._views, self._owner, tail.seqs[at], check=self._check) if at < len(tail.seqs) else []
            kept = self._lifecycle.carry_out_plan(self._owner, lambda view, _: unkept(view, said), check=self._check)
            self._append(kept)
            self._seen[self._owner] = applied
        return read

    def _next(self, view: OwnerView, _now: int) -> Talk | None:
        """What is to be asked next."""
        unread = next_unread(unread_turns(view), self._most)
        if not unread:
            return None
        if self._said is None:
            self._said = said_from(self._views, view.owner, first_unread(view), SAID_BEFORE, self._check)
            self._places = {one.turn_id: at for at, one in enumerate(self._said) if isinstance(one, Turn)}
        around = said_around(self._said, self._places, unread)
        shelf = Candidates(view, alike=self._lifecycle.alike)
        return talk_about(unread, around, shelf, deleted_turns(view.columns), view.parameters.time_zone)

    def _ask(self, chat: Chat, talk: Talk) -> tuple[Answer | None, ModelFailed | None]:
        try:
            answer, used = chat.ask(prompt("extract", talk.language), talk.as_json(), Answer, Checked(talk))
        except ModelFailed as failure:
            self._spend(ModelUsage(*failure.usage))
            if not failure.down and len(talk.unread) == 1:
                self._helpless += 1
            return None, failure
        self._spend(used)
        self._helpless = 0
        self._most = min(MOST_TURNS, self._most * 2)
        return answer, None

    def _spend(self, used: ModelUsage) -> None:
        self._spent = self._spent.plus(used)
        self.found.usage = self.found.usage.plus(used)

    def _decide(self, chat: Chat, talk: Talk, answer: Answer | None, read: ReadTurns) -> None:
        """Append what follows, or what rules make of it where there is no answer."""
        refused = dict[str, str]()
        planner = partial(
            _by_model, talk=talk, answer=answer, by=chat.model, took=self._spent, read=read, refused=refused
        )
        part = self._lifecycle.carry_out_plan(self._owner, planner)
        self._append(part)
        made = _mark(part)
        if made is None:
            return  # another run has read them meanwhile
        self._spent = ModelUsage()
        self.found.read += made.turns
        self.found.left = max(0, self.found.left - len(talk.unread))
        self.found.by_rules += made.by_rules
        self.found.refused |= refused
        self._on_progress(self.found.read, self.found.read + self.found.left)

    def _append(self, part: LifecycleRun) -> None:
        whole = self.found.done
        whole.decisions += part.decisions
        whole.appended += part.appended
        whole.position = part.position or whole.position


def _mark(part: LifecycleRun) -> TurnsExtracted | None:
    """The mark that this run made: one that another made at another moment stands, and is left out of what is appended."""
    return next((one.data for one in part.decisions if isinstance(one.data, TurnsExtracted)), None)


def _unread(view: OwnerView, _now: int) -> int:
    """How many turns are to be read."""
    return sum(1 for _ in unread_turns(view))


def _heard(view: OwnerView, talk: Talk) -> list[ReadTurn]:
    """The turns of a talk, after those of which the questions count."""
    return [*turns_before(view, talk.unread[0].seq, LOOKED_BACK), *talk.unread]


def _by_rules(
    view: OwnerView, now: int, *, read: ReadTurns, check: Check, alike: Alike, asked: Mapping[str, str]
) -> list[Decision]:
    """What rules make of all that is unread; nothing where another run made a mark meanwhile."""
    return extractions(view, now, check, alike, asked) if view.state.read == read else []


def _by_model(
    view: OwnerView,
    now: int,
    *,
    talk: Talk,
    answer: Answer | None,
    by: str,
    took: ModelUsage,
    read: ReadTurns,
    refused: dict[str, str],
) -> list[Decision]:
    """What an answer leads to on the owner's newest state; nothing where another run made a mark meanwhile.

    `refused` gets the turns of which nothing that the model proposed was done.
    """
    refused.clear()
    if view.state.read != read:
        return []
    unread = takewhile(lambda one: one.seq <= talk.unread[-1].seq, unread_turns(view))
    standing = still_standing(talk, {one.turn.turn_id for one in unread}, deleted_turns(view.columns))
    if not standing.unread:
        return []
    verdicts = (
        by_rules(standing, view)
        if answer is None
        else judge_proposed(standing, answer, _heard(view, standing), view, by)
    )
    if answer is not None:
        refused |= _refused(standing, answer, verdicts)
    after = read.applied
    return read_by_model(standing, verdicts, by, now, took, prompt=PROMPT, after=after, ruled=answer is None)


def _refused(talk: Talk, answer: Answer, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The turns for which the model proposed operations, all of which were refused -> the last reason."""
    shown = (talk.turn(one.turn) for one in answer.operations if one.operation != "SKIP")
    proposed = {one.turn_id for one in shown if one is not None and one.new}
    done = {one.turn_id for one in verdicts if one.operation != "SKIP"}
    return {one.turn_id: one.reason for one in verdicts if one.turn_id in proposed - done}
