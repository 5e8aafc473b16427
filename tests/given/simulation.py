"""One person's year as data: a few thousand events in Chinese and English, the same for the same seed.

Lin Yue tells an assistant who she is, what she likes, what she is busy with and a lot of small talk; some of it she repeats,
asks for every week, puts to use, or takes back. Extraction is told as its outcome: each statement is a turn, a memory
made of it, and the assistant's answer. A few batches arrive a day or two late, as from a telephone that was offline.

`python -m tests.given.simulation` prints the events as JSON Lines for `engramlog append -`; with a folder it writes there the
picture of the coffee's curves under every law, and its figures.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.projections.past.life import life_of
from engramlog_server.projections.reports.comparison import curves
from tests.given.events import Told, accessed, at, created, mentioned, negated, reinforced, stored

OWNER = "lin-yue"
SEED = 2024
DAYS = 366
"""2024 is a leap year."""
CHATTER = 600
"""How many things are said once, in passing."""
SMALL_TALK = 3
"""Exchanges a day of which nothing is kept."""
MINUTE = 1 / 1_440
STORY = "coffee"
"""The memory whose curves are drawn: a habit given up in autumn, and taken up again."""

IDENTITY = {"name": "我叫林月，朋友们叫我小月。", "born-in": "I was born in Chengdu. 我是成都人。"}
"""The first stands in the fact tier, as a producer that knows no tiers leaves it; the second in the core tier."""
REPEATED = {
    "spicy": "我爱吃辣，越辣越好。",
    "quiet": "I like to sit by the window where it is quiet.",
    "trains": "出差我宁愿坐高铁，不坐飞机。",
    "jazz": "Old jazz records are what I listen to in the evening.",
    "dark-mode": "编辑器请一直用深色主题。",
    "short": "Give me short answers, please, with the result first.",
}
ONCE = {
    "lilies": "我喜欢百合花的味道。",
    "aisle": "In a theatre I prefer a seat on the aisle.",
    "bus": "短途我喜欢坐公交车。",
    "opera": "I like a good opera.",
    "paper": "草稿我喜欢写在纸上。",
    "tables": "I like figures in tables.",
}
"""Each said once, on the day of the repeated one beside it."""
ASKED_WEEKLY = {
    "standup": "The stand-up is at half past nine in the blue room.",
    "bins": "垃圾每周二晚上拿下楼。",
    "reviewer": "Pull requests of the parser go to Marta.",
    "class": "女儿的舞蹈课在周六下午三点。",
    "build": "The nightly build runs on the third machine.",
}
NEVER_ASKED = {
    "canteen": "The canteen has changed its caterer.",
    "lift": "二号楼的电梯换了新的。",
    "logo": "The sales team has a new logo.",
    "gate": "学校北门刷成了绿色。",
    "stickers": "Somebody left stickers on the third machine.",
}
"""Facts of the same days, for which nobody ever asks."""
SKILLS = {
    "profile-first": "Profile before optimising: the slow part is never where I look first.",
    "escape-sql": "拼 SQL 之前先参数化，不要拼字符串。",
    "small-steps": "Large migrations go well in small reversible steps.",
    "rebase": "提交前先 rebase，再跑一遍测试。",
}
CORRECTED = {
    "office": ("My desk is on the fourth floor.", "My desk has moved to the ninth floor."),
    "manager": ("我的主管是王磊。", "现在我的主管是赵敏。"),
    "release": ("The release day is Thursday.", "The release day is Monday now."),
    "gym": ("健身房的年卡还有效。", "健身房的年卡我退掉了。"),
    "editor": ("The whole team works with Vim.", "The whole team has gone over to Helix."),
    "teacher": ("女儿的班主任是陈老师。", "女儿换了班主任，现在是吴老师。"),
}
COFFEE = "早上一定要喝咖啡。I cannot start a day without coffee."

CHAT = (
    (
        "{when}{who}{what}。（{number}）",
        ("今天", "刚才", "昨晚", "早上"),
        ("阿杰", "小周", "邻居", "老板", "妈妈"),
        ("忘了带伞", "买了一双红鞋", "把杯子打碎了", "迟到了十分钟", "找到一家好吃的面馆"),
    ),
    (
        "{when} {who} {what}. ({number})",
        ("This morning", "On the way home", "At lunch", "Just now"),
        ("Marta", "Tom", "my sister", "the new intern", "Priya"),
        ("missed the bus", "burnt the toast", "found a good bakery", "lost a glove", "sang in the lift"),
    ),
)
"""Two languages: a sentence, and the words that chance puts into it."""


class Year(NamedTuple):
    """The events in the order of the log, and the ids of what was said in passing."""

    events: tuple[Told, ...]
    chatter: tuple[str, ...]


class _Diary:
    """Writes the year down. Each batch of events has the day on which it arrives, which late ones have later."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.batches: list[tuple[float, list[Told]]] = []
        self._turns = 0

    @property
    def next_turn(self) -> str:
        """Id of what the next exchange begins with."""
        return f"u{self._turns + 1}"

    def hour(self, day: float) -> float:
        """Some moment of the waking hours of that day."""
        return int(day) + self.chance.uniform(0, 0.58)

    def exchange(self, day: float, text: str, *outcome: Told, answer: str = "好的。") -> None:
        """Something said, what it leads to, and the answer; one in fifty arrives late."""
        self._turns += 1
        session = {"session_id": f"day-{int(day)}"}
        turn = TurnRecorded(turn_id=f"u{self._turns}", role="user", speaker="林月", text=text)
        reply = TurnRecorded(turn_id=f"a{self._turns}", role="assistant", text=answer, reply_to=f"u{self._turns}")
        late = self.chance.choice((1, 2)) if self.chance.random() < 0.02 else 0
        told = [Told(turn, day, extra=session), *outcome, Told(reply, day + MINUTE, "assistant", extra=session)]
        self.batches.append((day + late, told))

    def states(self, day: float, memory_id: str, text: str, **data: Any) -> None:
        """A statement from which a memory is made."""
        self.exchange(day, text, created(text, memory_id, day, "judge", source_turns=(self.next_turn,), **data))

    def repeats(self, day: float, memory_id: str, text: str) -> None:
        """It is said again; what it calls up stands in the assistant's context."""
        said = mentioned(memory_id, day, turn_id=self.next_turn)
        self.exchange(day, text, said, accessed(memory_id, day=day + MINUTE / 2, via="injection"))

    def recalls(self, day: float, memory_id: str, text: str) -> None:
        """A question whose answer is this memory."""
        self.exchange(day, text, accessed(memory_id, day=day, via="recall"))

    def alone(self, *told: Told) -> None:
        """Events without an exchange."""
        self.batches.append((told[0].day, list(told)))


def a_year(seed: int = SEED) -> Year:
    """The whole year. Same seed, same events."""
    diary = _Diary(seed)
    _who_she_is(diary)
    _what_she_likes(diary)
    _coffee(diary)
    _what_is_asked(diary)
    _skills(diary)
    _corrections(diary)
    chatter = _chatter(diary)
    for day in range(DAYS):
        for _ in range(SMALL_TALK):
            diary.exchange(diary.hour(day), diary.chance.choice(("嗯。", "Thanks!", "继续吧。", "Go on.", "哈哈")))
    ordered = sorted(diary.batches, key=lambda batch: batch[0])
    return Year(tuple(chain.from_iterable(told for _, told in ordered)), chatter)


def _who_she_is(diary: _Diary) -> None:
    for (memory_id, text), tier in zip(IDENTITY.items(), (None, "core"), strict=True):
        diary.states(diary.hour(0), memory_id, text, category="identity", kind="fact", tier=tier, confidence=0.9)
    for day in (62, 207):
        diary.repeats(diary.hour(day), "name", "我叫什么来着？林月。")


def _what_she_likes(diary: _Diary) -> None:
    for number, (again, once) in enumerate(zip(REPEATED.items(), ONCE.items(), strict=True)):
        first = 3 + 4 * number
        for memory_id, text in (again, once):
            diary.states(diary.hour(first), memory_id, text)
        for month in range(1, 12):
            day = first + 30 * month + diary.chance.uniform(-3, 3)
            diary.repeats(diary.hour(day), *again)


def _coffee(diary: _Diary) -> None:
    diary.states(diary.hour(9), STORY, COFFEE)
    for month in range(1, 8):
        diary.repeats(diary.hour(9 + 30 * month), STORY, "还是要咖啡。Coffee, as always.")
    given_up = diary.hour(243)
    negation = negated(STORY, given_up, reason="她自己说的", turn_id=diary.next_turn)
    diary.exchange(given_up, "我不喝咖啡了。", negation)
    for day in (306, 336):
        diary.repeats(diary.hour(day), STORY, "我又开始喝咖啡了。Back to coffee.")


def _what_is_asked(diary: _Diary) -> None:
    for number, (asked, never) in enumerate(zip(ASKED_WEEKLY.items(), NEVER_ASKED.items(), strict=True)):
        first = 2 + number
        for memory_id, text in (asked, never):
            diary.states(diary.hour(first), memory_id, text, category="fact", kind="fact")
        for week in range(1, 52):
            diary.recalls(diary.hour(first + 7 * week), asked[0], "那件事再说一遍？Remind me of that.")


def _skills(diary: _Diary) -> None:
    outcomes = ("task_success",) * 6 + ("used",) * 3 + ("task_failure",)
    for number, (memory_id, text) in enumerate(SKILLS.items()):
        diary.states(diary.hour(12 + number), memory_id, text, category="skill", kind="lesson")
        for day in range(20 + number, DAYS, 10):
            when = diary.hour(day)
            diary.alone(
                accessed(memory_id, day=when, via="injection"),
                reinforced(memory_id, when + 30 * MINUTE, diary.chance.choice(outcomes)),
            )


def _corrections(diary: _Diary) -> None:
    for number, (memory_id, (before, after)) in enumerate(CORRECTED.items()):
        diary.states(diary.hour(6 + number), memory_id, before, category="fact", kind="fact")
        for week in range(1, 12):
            diary.recalls(diary.hour(6 + number + 7 * week), memory_id, "怎么样来着？How was that again?")
        day, new, turn = diary.hour(100 + 13 * number), f"{memory_id}-now", diary.next_turn
        data = {"category": "fact", "kind": "fact", "corrects": memory_id, "source_turns": (turn,)}
        diary.exchange(
            day,
            after,
            created(after, new, day, "judge", **data),
            negated(memory_id, day, replaced_by=new, correction=after, turn_id=turn),
        )
        for week in range(1, 20):
            diary.recalls(diary.hour(day + 7 * week), new, "现在是怎样？How is it now?")
        # An assistant that has not understood goes on about the old one, and an association brings it up once more.
        stale = diary.hour(day + 20)
        diary.alone(mentioned(memory_id, stale, "assistant"), accessed(memory_id, day=stale, via="association"))


def _chatter(diary: _Diary) -> tuple[str, ...]:
    """Things said in passing, all year round; now and then one is said again or looked up within the week."""
    ids = []
    for number in range(CHATTER):
        day, memory_id = diary.hour(number * DAYS / CHATTER), f"chat-{number}"
        sentence, *words = diary.chance.choice(CHAT)
        when, who, what = map(diary.chance.choice, words)
        text = sentence.format(when=when, who=who, what=what, number=number)
        diary.states(day, memory_id, text, category="temporary", kind="episode")
        fate = diary.chance.random()
        if fate < 0.05:
            diary.recalls(diary.hour(day + diary.chance.uniform(1, 5)), memory_id, "刚才说的是什么？What was that?")
        elif fate < 0.07:
            diary.repeats(diary.hour(day + 1), memory_id, "真的，又来了。Again!")
        ids.append(memory_id)
    return tuple(ids)


def story_of_the_coffee(year: Year) -> dict[str, Any]:
    """What the picture is drawn from: the curves of one memory over the year."""
    life = life_of(stored(year.events, OWNER), STORY)
    return {"title": f"{STORY}: {COFFEE}", **curves(life, at(0), at(DAYS), 200, 0)}


def rounded(told: Any) -> Any:
    """The same with figures to 4 decimals."""
    if isinstance(told, dict):
        return {name: rounded(item) for name, item in told.items()}
    if isinstance(told, list):
        return [rounded(item) for item in told]
    return round(told, 4) if isinstance(told, float) else told


def main(arguments: Sequence[str]) -> None:
    """The year as JSON Lines, or into a folder its picture with the figures."""
    year = a_year()
    if not arguments:
        for one in stored(year.events, OWNER):
            sys.stdout.buffer.write(one.body + b"\n")
        return
    from engramlog_server.api.pictures.curves import curves_picture
    from engramlog_server.api.pictures.svg import Look, write_picture

    told, folder = story_of_the_coffee(year), Path(arguments[0])
    figures = json.dumps(rounded(told), ensure_ascii=False, separators=(",", ":"))
    (folder / "compare.json").write_text(figures + "\n", encoding="utf-8")
    write_picture(curves_picture(told, Look()), folder / "compare.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
