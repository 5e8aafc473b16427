"""Questions put in other words by a language model while somebody waits: bounded in time, in number and in memory (ADR 0101).

A question waits so long and no longer. What the model says later is kept for the next who asks the same; what is kept is kept for
ten minutes, under its owner, and dropped then whether anybody asks or not.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from threading import Lock, Thread, Timer
from time import monotonic
from typing import Literal, NamedTuple

from events.errors import EngramlogError
from projections.models.chat import Chat
from projections.models.expansion_by_model import other_words, sent_of
from projections.shapes import ExpansionSet

KEPT_SECONDS = 600.0
"""How long the words of a question, and what a model said of them, are kept in this process."""
MOST_KEPT = 1_000
"""Questions of which that is kept."""
AT_ONCE = 4
"""Questions that the model is asked about at once."""
MINUTE = 60.0
REST_SECONDS, MOST_REST_SECONDS = 10.0, 60.0
"""How long a model that did not answer is left alone, twice as long each time."""
PATIENCE = 4.0
"""How many times as long as a question waits its request may take: for whoever asks the same next."""
ExpansionStatus = Literal["asked", "kept", "nothing", "off", "past", "private", "limit", "timeout", "failed"]
STATUSES: tuple[ExpansionStatus, ...] = (
    "asked", "kept", "nothing", "off", "past", "private", "limit", "timeout", "failed",
)  # fmt: skip


class ExpansionFound(NamedTuple):
    """What became of widening a question."""

    status: ExpansionStatus
    """`asked`: the model was asked now; `kept`: within the last ten minutes; `nothing`: it knew, or gave, no term of use. Else why
    the question goes as it is: `off` (the owner's parameter), `past` (it is about the past), `private` (it holds a secret, an
    address or the like), `limit` (as many were asked as may be), `timeout` (the model took too long), `failed`."""
    terms: tuple[str, ...] = ()
    why: str | None = None
    """What failed, told about the endpoint."""


class ExpansionBounds(NamedTuple):
    """How much a model may be asked."""

    seconds: float
    """How long a question waits for it."""
    per_minute: int
    """Requests within a minute, in this process."""


class _Kept(NamedTuple):
    at: float
    found: ExpansionFound


_Key = tuple[str, str]


def begin_thread(work: Callable[[], None]) -> None:
    """Do it beside."""
    Thread(target=work, name="engramlog-expansion", daemon=True).start()


def begin_later(seconds: float, work: Callable[[], None]) -> None:
    """Do it later."""
    timer = Timer(seconds, work)
    timer.daemon = True
    timer.start()


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
        later: Callable[[float, Callable[[], None]], None] = begin_later,
    ) -> None:
        """`chat` makes the model of this name; `tell` writes to the log, which never learns a word of a question."""
        self.model, self.bounds = model, bounds
        self.counts = Counter[str](dict.fromkeys(STATUSES, 0))
        """How often a question was, or was not, widened, by status."""
        self._chat, self._tell = chat, tell
        self._clock, self._beside, self._later = clock, beside, later
        self._lock = Lock()
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._waited: dict[_Key, Future[ExpansionFound]] = {}
        self._asked: deque[float] = deque(maxlen=bounds.per_minute)
        self._sweeps = False
        self._why, self._until, self._rest = "", float("-inf"), REST_SECONDS

    @property
    def failing(self) -> str | None:
        """Why the model is left alone for now; None where it is not."""
        with self._lock:
            return self._why if self._clock() < self._until else None

    def left(self, status: ExpansionStatus) -> ExpansionFound:
        """The question goes as it is, for this reason: counted, and told."""
        return self._noted(ExpansionFound(status))

    def _noted(self, found: ExpansionFound) -> ExpansionFound:
        with self._lock:
            self.counts[found.status] += 1
        return found

    def expand(self, owner: str, query: str) -> ExpansionFound:
        """How else an owner's question may be put, within the bounds. Whether it may be sent is for the caller to say."""
        return self._noted(self._expanded((owner, sent_of(query))))

    def standing(self) -> ExpansionSet:
        """Its bounds, what came of it in this process, and why it is left alone."""
        seconds, per_minute = self.bounds
        return {
            "per_minute": per_minute, "seconds": seconds, "outcomes": dict(self.counts), "failing": self.failing
        }  # fmt: skip

    def close(self) -> None:
        """Forget what is kept."""
        with self._lock:
            self._kept.clear()

    def _expanded(self, key: _Key) -> ExpansionFound:
        with self._lock:
            now = self._clock()
            known = self._kept.get(key)
            if known is not None and now - known.at < KEPT_SECONDS:
                self._kept.move_to_end(key)
                found = known.found
                return found._replace(status="kept") if found.status == "asked" else found
            waited = self._waited.get(key)
            if waited is None and (refused := self._refused(now)) is not None:
                return refused
            begins = waited is None
            if waited is None:
                self._asked.append(now)
                waited = self._waited[key] = Future[ExpansionFound]()
        if begins:
            self._beside(lambda: self._ask(key, waited))
        try:
            return waited.result(self.bounds.seconds)
        except TooLate:
            return ExpansionFound("timeout")

    def _refused(self, now: float) -> ExpansionFound | None:
        """Why the model is not asked now. The caller holds the lock."""
        if now < self._until:
            return ExpansionFound("failed", why=self._why)
        full = len(self._asked) == self.bounds.per_minute and now - self._asked[0] < MINUTE
        return ExpansionFound("limit") if full or len(self._waited) >= AT_ONCE else None

    def _ask(self, key: _Key, waited: Future[ExpansionFound]) -> None:
        """Ask the model, and have its answer kept and told to who still waits; never raises."""
        down = False
        try:
            terms = other_words(self._chat(), key[1])
            found = ExpansionFound("asked" if terms else "nothing", terms)
        except EngramlogError as error:
            down = error.context.get("down") is not False
            found = ExpansionFound("failed", why=error.message)
        except Exception as error:  # noqa: BLE001 - whatever it is, who waits is told, and the question goes as it is
            down = True
            found = ExpansionFound("failed", why=f"the model's client raised {type(error).__name__}")
        with self._lock:
            now = self._clock()
            self._waited.pop(key, None)
            if down:
                self._why, self._until = found.why or "", now + self._rest
                self._rest = min(2 * self._rest, MOST_REST_SECONDS)
            else:
                self._rest = REST_SECONDS
                self._keep(key, _Kept(now, found))
        if found.status == "failed":
            self._tell("question not expanded", reason=found.why, alarm=down)
        waited.set_result(found)

    def _keep(self, key: _Key, kept: _Kept) -> None:
        self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        if not self._sweeps:
            self._sweeps = True
            self._later(KEPT_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Drop what was kept long enough, and look again when the next is."""
        with self._lock:
            now = self._clock()
            self._drop(now)
            self._sweeps = bool(self._kept)
            if self._sweeps:
                oldest = min(one.at for one in self._kept.values())
                self._later(max(oldest + KEPT_SECONDS - now, 1.0), self._sweep)

    def _drop(self, now: float) -> None:
        for key in [key for key, one in self._kept.items() if now - one.at >= KEPT_SECONDS]:
            del self._kept[key]
