"""Questions put in other words by a language model while somebody waits: bounded in time, in number and in memory.

What the model says too late is kept for the next who asks the same: ten minutes, under its owner, and dropped then by a timer.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import suppress
from threading import Lock, Thread, Timer
from time import monotonic
from typing import Literal, NamedTuple

from events.errors import BadSetting, EngramlogError
from projections.models.chat import Chat
from projections.models.expansion_by_model import Sendable, other_words, sendable
from projections.shapes import ExpansionSet

KEPT_SECONDS, MOST_KEPT = 600.0, 1_000
"""How long the words of a question, and what a model said of them, are kept in this process, and of how many."""
AT_ONCE = 4
"""Questions that the model is asked about at once."""
MOST_WAITING = 8
"""Answers that wait for it at once, each in a thread of a lane; further ones go without."""
LOADING_SECONDS = 4.0
"""A process for one command loads the client with its question, some 2 s of CPU: it asks where a question waits so long."""
MINUTE = 60.0
REST_SECONDS, MOST_REST_SECONDS = 10.0, 60.0
"""How long a model that did not answer is left alone, twice as long each time."""
PATIENCE = 4.0
"""How many times as long as a question waits its request may take: for whoever asks the same next."""
OTHERS_SECONDS = 600.0
"""While another owner asked within so long, one owner has half of a minute's requests at most."""
ExpansionStatus = Literal["asked", "kept", "nothing", "off", "past", "private", "share", "limit", "timeout", "failed"]
STATUSES: tuple[ExpansionStatus, ...] = (
    "asked", "kept", "nothing", "off", "past", "private", "share", "limit", "timeout", "failed",
)  # fmt: skip


class ExpansionFound(NamedTuple):
    """What became of widening a question."""

    status: ExpansionStatus
    """`asked`: the model was asked now; `kept`: within the last ten minutes; `nothing`: it knew, or gave, no term of use. Else why
    the question goes as it is: `off` (the owner's parameter), `past` (it is about the past), `private` (it holds a secret, an
    address or the like), `share` (as many of this owner's were asked in a minute as may be while others ask), `limit` (as many
    were asked as may be), `timeout` (the model took too long), `failed`."""
    terms: tuple[str, ...] = ()
    why: str | None = None
    """What failed, for the operator: it names the endpoint, or a setting."""
    kind: str | None = None
    """The same for whoever asks: it names neither."""


class ExpansionBounds(NamedTuple):
    """How much a model may be asked."""

    seconds: float
    """How long a question waits for it."""
    per_minute: int
    """Requests within a minute, in this process."""


class _Kept(NamedTuple):
    at: float
    found: ExpansionFound


class _Begun(NamedTuple):
    answer: Future[ExpansionFound]
    until: float
    """Until when whoever asks waits for it: once, however often one request is run."""


_Key = tuple[str, Sendable]
_ENDING = ExpansionFound("failed", why="the process ends", kind="the process ends")
_NO_THREAD = ExpansionFound("failed", why="no thread can be started", kind="the process has no room to ask")
_BROKEN = ExpansionFound("failed", why="the model's client ended its thread", kind="the model does not answer")
_OVER_SHARE = ExpansionFound("share", why="one owner had half of a minute's requests, and others ask too")
_LOADING = ExpansionFound(
    "timeout", kind=f"a command by itself loads the client first, and asks where a question waits {LOADING_SECONDS:g} s"
)


def begin_thread(work: Callable[[], None]) -> None:
    """Do it beside."""
    Thread(target=work, name="engramlog-expansion", daemon=True).start()


def begin_later(seconds: float, work: Callable[[], None]) -> Callable[[], None]:
    """Do it later, unless what is returned is called before."""
    timer = Timer(seconds, work)
    timer.daemon = True
    timer.start()
    return timer.cancel


class Expander:
    """Widens questions. Safe for threads; nothing is loaded or asked before the first."""

    def __init__(
        self,
        model: str,
        chat: Callable[[], Chat],
        bounds: ExpansionBounds,
        tell: Callable[..., None] = lambda _fact, **_facts: None,
        *,
        clock: Callable[[], float] = monotonic,
        beside: Callable[[Callable[[], None]], None] = begin_thread,
        later: Callable[[float, Callable[[], None]], Callable[[], None]] = begin_later,
        stays: bool = True,
    ) -> None:
        """`chat` makes the model of this name; `tell` writes to the log, which never learns a word of a question. `stays`: the
        process answers more than one command, and has loaded the client."""
        self.model, self.bounds = model, bounds
        self.counts = Counter[str](dict.fromkeys(STATUSES, 0))
        """How often a question was, or was not, widened, by status."""
        self._chat, self._tell = chat, tell
        self._clock, self._beside, self._later, self._stays = clock, beside, later, stays
        self._lock = Lock()
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._begun: dict[_Key, _Begun] = {}
        self._waiting = 0
        self._asked: deque[tuple[float, str]] = deque(maxlen=bounds.per_minute)
        """When the model was asked, and whose question it was."""
        self._lately: dict[str, float] = {}
        """The two owners who asked last, and when: whether others than one of them ask."""
        self._told_share = float("-inf")
        self._cancel: Callable[[], None] | None = None
        """Ends the timer that drops what is kept."""
        self._closed = False
        self._failed, self._until, self._rest = _BROKEN, float("-inf"), REST_SECONDS

    @property
    def failing(self) -> str | None:
        """Why the model is left alone for now; None where it is not."""
        with self._lock:
            return self._failed.why if self._clock() < self._until else None

    def left(self, status: ExpansionStatus) -> ExpansionFound:
        """The question goes as it is, for this reason."""
        return self._noted(ExpansionFound(status))

    def _noted(self, found: ExpansionFound) -> ExpansionFound:
        with self._lock:
            self.counts[found.status] += 1
        return found

    def expand(
        self, owner: str, query: str, kept_back: Callable[[], ExpansionStatus | None] = lambda: None
    ) -> ExpansionFound:
        """How else an owner's question may be put, within the bounds. `kept_back`: why the owner's are not to go; asked last."""
        sent = sendable(query)
        why = "private" if sent is None else kept_back()
        if sent is None or why is not None:
            return self.left(why or "private")
        found = self._expanded((owner, sent))
        if found is _OVER_SHARE:
            self._tell_share()
        return self._noted(found)

    def standing(self) -> ExpansionSet:
        """Its bounds, what came of it in this process, and why it is left alone."""
        seconds, per_minute = self.bounds
        return {
            "per_minute": per_minute, "seconds": seconds, "outcomes": dict(self.counts), "failing": self.failing
        }  # fmt: skip

    def forget(self) -> None:
        """Drop what is kept."""
        with self._lock:
            self._kept.clear()

    def close(self) -> None:
        """Ask nobody from here on, and drop what is kept."""
        with self._lock:
            self._closed = True
            self._kept.clear()
            cancel, self._cancel = self._cancel, None
        if cancel is not None:
            cancel()

    def _expanded(self, key: _Key) -> ExpansionFound:
        with self._lock:
            now, owner = self._clock(), key[0]
            self._lately.pop(owner, None)
            self._lately = dict([*self._lately.items()][-1:]) | {owner: now}
            known = self._kept.get(key)
            if known is not None and now - known.at < KEPT_SECONDS:
                self._kept.move_to_end(key)
                found = known.found
                return found._replace(status="kept") if found.status == "asked" else found
            begun = self._begun.get(key)
            if begun is None and (refused := self._refused(now, owner)) is not None:
                return refused
            if self._waiting >= MOST_WAITING:
                return ExpansionFound("limit")
            begins = begun is None
            if begun is None:
                self._asked.append((now, owner))
                begun = self._begun[key] = _Begun(Future(), now + self.bounds.seconds)
            self._waiting += 1
        try:
            if begins:
                self._begin(key, begun.answer, now)
            return begun.answer.result(max(0.0, begun.until - self._clock()))
        except TooLate:
            return ExpansionFound("timeout")
        finally:
            with self._lock:
                self._waiting -= 1

    def _refused(self, now: float, owner: str) -> ExpansionFound | None:
        """Why the model is not asked now. The caller holds the lock."""
        if self._closed:
            return _ENDING
        if not self._stays and self.bounds.seconds < LOADING_SECONDS:
            return _LOADING
        if now < self._until:
            return self._failed
        full = len(self._asked) == self.bounds.per_minute and now - self._asked[0][0] < MINUTE
        if full or len(self._begun) >= AT_ONCE:
            return ExpansionFound("limit")
        return self._over_share(now, owner)

    def _over_share(self, now: float, owner: str) -> ExpansionFound | None:
        """Whether others ask too, and the owner had half of a minute's requests. The caller holds the lock."""
        others = any(one != owner and now - at < OTHERS_SECONDS for one, at in self._lately.items())
        own = sum(one == owner and now - at < MINUTE for at, one in self._asked)
        if not others or own < max(1, self.bounds.per_minute // 2):
            return None
        return _OVER_SHARE

    def _begin(self, key: _Key, answer: Future[ExpansionFound], now: float) -> None:
        """Have the model asked beside. Where no thread starts nobody was asked, and whoever waits is told."""
        try:
            self._beside(lambda: self._ask(key, answer))
        except Exception:  # noqa: BLE001 - whatever it is, the question goes as it is
            with self._lock:
                self._begun.pop(key, None)
                with suppress(ValueError):
                    self._asked.remove((now, key[0]))
            if not answer.done():
                answer.set_result(_NO_THREAD)
            self._tell_failed(_NO_THREAD, alarm=True)

    def _ask(self, key: _Key, answer: Future[ExpansionFound]) -> None:
        """Ask the model, and have its answer kept and given to who still waits, whatever else goes wrong; never raises."""
        found, down = _BROKEN, True
        try:
            found, down = self._said(key[1])
        finally:
            try:
                with self._lock:
                    self._settle(key, found, down=down)
            finally:
                answer.set_result(found)
        if found.status == "failed" and found is not _ENDING:
            self._tell_failed(found, alarm=down)

    def _said(self, sent: Sendable) -> tuple[ExpansionFound, bool]:
        """What the model says, and whether it is down."""
        if self._closed:
            return _ENDING, False
        try:
            terms = other_words(self._chat(), sent)
        except BadSetting as error:
            return ExpansionFound("failed", why=error.message, kind="the model cannot be asked as it is set"), True
        except EngramlogError as error:
            down = error.context.get("down") is not False
            kind = "the model does not answer" if down else "the model gave no answer that can be used"
            return ExpansionFound("failed", why=error.message, kind=kind), down
        except Exception as error:  # noqa: BLE001 - whatever it is, who waits is told, and the question goes as it is
            why = f"the model's client raised {type(error).__name__}"
            return ExpansionFound("failed", why=why, kind="the model does not answer"), True
        return ExpansionFound("asked" if terms else "nothing", terms), False

    def _settle(self, key: _Key, found: ExpansionFound, *, down: bool) -> None:
        """Keep what was found, or leave the model alone. The caller holds the lock."""
        self._begun.pop(key, None)
        now = self._clock()
        if self._closed:
            return
        if not down:
            self._until, self._rest = float("-inf"), REST_SECONDS
            self._keep(key, _Kept(now, found))
            return
        self._failed = found
        if now >= self._until:  # several that were asked at once fail once
            self._until, self._rest = now + self._rest, min(2 * self._rest, MOST_REST_SECONDS)

    def _tell_share(self) -> None:
        with self._lock:
            now = self._clock()
            if now - self._told_share < MINUTE:
                return
            self._told_share = now
        self._tell_failed(_OVER_SHARE, alarm=False)

    def _tell_failed(self, found: ExpansionFound, *, alarm: bool) -> None:
        with suppress(Exception):  # a log that cannot be written to costs no question its answer
            self._tell("question not expanded", reason=found.why, alarm=alarm)

    def _keep(self, key: _Key, kept: _Kept) -> None:
        self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        if self._cancel is None:
            self._sweep_in(KEPT_SECONDS)

    def _sweep_in(self, seconds: float) -> None:
        """Look later at what is kept long enough; where no timer starts, nothing is kept. The caller holds the lock."""
        try:
            self._cancel = self._later(seconds, self._sweep)
        except Exception:  # noqa: BLE001 - whatever it is: what no timer drops would be kept for ever
            self._kept.clear()

    def _sweep(self) -> None:
        """Drop what was kept long enough, and look again when the next is."""
        with self._lock:
            now, self._cancel = self._clock(), None
            for key in [key for key, one in self._kept.items() if now - one.at >= KEPT_SECONDS]:
                del self._kept[key]
            if self._kept:
                oldest = min(one.at for one in self._kept.values())
                self._sweep_in(max(oldest + KEPT_SECONDS - now, 1.0))
