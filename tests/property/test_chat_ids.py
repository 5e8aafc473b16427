"""However a file of chats grows and however often it is imported: each message is one turn."""

from __future__ import annotations

from collections import Counter

import orjson
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.checks import parse_instant
from engramlog_server.api.exchange.chats import import_chats
from engramlog_server.api.exchange.files import open_chats
from engramlog_server.api.exchange.turns import ImportOptions
from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.envelope import decode
from engramlog_server.events.memory_log import InMemoryEventLog
from tests.given.samples import NOW

NAMES = [None, None, "c-1", "音乐课 and music"]
TEXTS = st.sampled_from(["hi", "你好", "ok", "I live in Lisbon", "我住在杭州"])
FROM = parse_instant("2024-01-01T08:00:00Z", "from")
Chats = list[tuple[str | None, list[str]]]


def imported(log: InMemoryEventLog, chats: Chats) -> int:
    """Import them; how many events were new."""
    lines = [
        orjson.dumps({"messages": [{"role": "user", "content": one} for one in texts]} | ({"id": name} if name else {}))
        for name, texts in chats
    ]
    answer = import_chats(log, open_chats(iter(lines)), ImportOptions(owner="ada"), FROM)
    assert (answer.imported.done.error, answer.imported.done.conflicts) == (None, [])
    return answer.imported.done.appended


def turns(log: InMemoryEventLog) -> list[tuple[str | None, TurnRecorded]]:
    """Every turn with its session."""
    stored = [decode(one.kind, one.body) for n in range(log.partitions) for one in log.read(n, 0, 10_000)]
    return [(one.session_id, one.data) for one in stored if isinstance(one.data, TurnRecorded)]


@st.composite
def growing(draw: st.DrawFn) -> list[Chats]:
    """A file as it is at several times: chats grow, others are added behind them. Names stand once."""
    texts = st.lists(TEXTS, min_size=1, max_size=5)
    full: Chats = [(name, draw(texts)) for name in draw(st.permutations(NAMES))]
    sizes = [0] * len(full)
    states: list[Chats] = []
    for many in sorted(draw(st.lists(st.integers(1, len(full)), min_size=1, max_size=4))):
        for at in range(many):
            sizes[at] = draw(st.integers(max(1, sizes[at]), len(full[at][1])))
        states.append([(full[at][0], full[at][1][: sizes[at]]) for at in range(many)])
    return states


@given(growing())
def test_each_message_is_one_turn_in_one_session(states: list[Chats]) -> None:
    log = InMemoryEventLog(lambda: NOW)
    first, *later = states
    imported(log, first)
    for chats in [*later, states[-1]]:
        imported(log, chats)
    assert imported(log, states[-1]) == 0
    found = turns(log)
    assert len({turn.turn_id for _, turn in found}) == len(found) == sum(len(texts) for _, texts in states[-1])
    assert Counter(Counter(session for session, _ in found).values()) == Counter(len(texts) for _, texts in states[-1])
