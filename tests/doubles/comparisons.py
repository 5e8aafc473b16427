"""Two hundred questions that compare two things, half in each language, over talks made up here: seeded, of no data set.

In each talk eight undertakings are spoken of, some often and some hardly ever; of each, one turn tells when it began and one what
it cost. A question compares two of them, and its evidence is the turn of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import orjson

TALKS = 10
QUESTIONS = 20
"""Of a talk."""
UNDERTAKINGS = 8


Item = TypeVar("Item")


class _Words(NamedTuple):
    things: tuple[str, ...]
    kinds: tuple[str, ...]
    began: tuple[str, ...]
    cost: tuple[str, ...]
    chat: tuple[str, ...]
    replies: tuple[str, ...]
    asks_began: tuple[str, ...]
    asks_cost: tuple[str, ...]

    def names(self, random: Random) -> list[str]:
        return [thing + random.choice(self.kinds) for thing in random.sample(self.things, UNDERTAKINGS)]


ENGLISH = _Words(
    (
        "harbour ",
        "pottery ",
        "Portuguese ",
        "orchard ",
        "chess ",
        "sailing ",
        "violin ",
        "baking ",
        "archery ",
        "beekeeping ",
        "juggling ",
        "origami ",
    ),
    ("course", "club", "workshop", "evening class", "group"),
    ("I started the {} in week {} of the year", "The {} started for me in week {}", "In week {1} I started the {0}"),
    (
        "The {} costs me {} euros a month",
        "The price of the {} is {} euros",
        "They raised what the {} costs to {} euros",
    ),
    (
        "Today the {} was great fun again",
        "I missed the {} because of the rain",
        "Somebody new joined the {} tonight",
        "The teacher of the {} praised me",
        "I told my neighbour about the {}",
        "We had cake after the {}",
        "The room of the {} was cold as ever",
        "I practised for the {} all afternoon",
    ),
    ("That sounds lovely", "How nice, tell me more", "I hope it goes on like that", "Good to hear"),
    (
        "Which did I start first, the {} or the {}?",
        "Did I start the {} before the {}?",
        "How many weeks lie between the start of the {} and the start of the {}?",
        "When did I start both the {} and the {}?",
    ),
    (
        "Which costs more, the {} or the {}?",
        "Does the {} cost more than the {}?",
        "How large is the difference between the price of the {} and the price of the {}?",
        "What does each cost, the {} and the {}?",
    ),
)
CHINESE = _Words(
    ("陶艺", "葡萄牙语", "帆船", "小提琴", "烘焙", "射箭", "养蜂", "书法", "围棋", "园艺", "摄影", "剪纸"),
    ("课", "社团", "工作坊", "夜校", "小组"),
    ("{0}是今年第{1}周开始的", "我第{1}周开始参加{0}", "我的{0}从第{1}周开始"),
    ("{}每个月要花{}块钱", "为了{}我花了{}块", "{}的价格是{}块"),
    (
        "今天的{}又很开心",
        "因为下雨我没去{}",
        "今晚有新人加入{}",
        "{}的老师表扬了我",
        "我跟邻居说起了{}",
        "{}结束后我们吃了蛋糕",
        "{}的教室还是很冷",
        "我整个下午都在为{}练习",
    ),
    ("听起来真不错", "太好了，再多说一点", "希望一直这样下去", "真为你高兴"),
    ("{}和{}哪个先开始？", "先开始的是{}还是{}？", "开始{}和开始{}之间隔了几周？", "{}和{}都是什么时候开始的？"),
    ("{}和{}哪个花的钱更多？", "{}和{}都要花多少钱？", "比较一下{}和{}的价格"),
)


def comparisons(seed: int = 18) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The turns and the questions, as an evaluation reads them."""
    random = Random(seed)
    turns, questions = list[dict[str, object]](), list[dict[str, object]]()
    for number in range(TALKS):
        language, words = ("en", ENGLISH) if number % 2 == 0 else ("zh", CHINESE)
        owner = f"{language}-{number}"
        names = words.names(random)
        told = _told(random, words, names)
        places = {key: str(at) for at, (key, _) in enumerate(told)}
        for at, (key, text) in enumerate(told):
            speaker = "assistant" if key.startswith("reply") else "user"
            day, minute = at // 24, at % 24
            turns.append(
                {
                    "conversation": owner,
                    "turn_id": str(at),
                    "session": f"s{day}",
                    "speaker": speaker,
                    "text": text,
                    "occurred_at": f"2026-03-{1 + day:02}T08:{minute:02}:00Z",
                }
            )
        questions += _asked(random, words, names, places, owner)
    return turns, questions


def _told(random: Random, words: _Words, names: list[str]) -> list[tuple[str, str]]:
    """Key and text of every turn: the evidence of each undertaking and its chat, two undertakings a session, with replies."""
    sessions = list[list[tuple[str, str]]]()
    for at, name in enumerate(names):
        began = (f"began {name}", random.choice(words.began).format(name, random.randint(2, 50)))
        cost = (f"cost {name}", random.choice(words.cost).format(name, random.randint(10, 300)))
        chat = [(f"chat {name} {time}", random.choice(words.chat).format(name)) for time in range(2 + 3 * (at % 5))]
        half = len(chat) // 2
        sessions += [_shuffled(random, [began, *chat[:half]]), _shuffled(random, [cost, *chat[half:]])]
    told = list[tuple[str, str]]()
    for session in _shuffled(random, sessions):
        for at, one in enumerate(session):
            told.append(one)
            if at % 2:
                told.append((f"reply {len(told)}", random.choice(words.replies)))
    return told


def _shuffled(random: Random, items: list[Item]) -> list[Item]:
    return random.sample(items, len(items))


def _asked(
    random: Random, words: _Words, names: list[str], places: dict[str, str], owner: str
) -> Iterator[dict[str, object]]:
    for at in range(QUESTIONS):
        first, second = random.sample(names, 2)
        kind, shapes = (("began", words.asks_began), ("cost", words.asks_cost))[at % 2]
        yield {
            "conversation": owner,
            "question": random.choice(shapes).format(first, second),
            "evidence": [places[f"{kind} {first}"], places[f"{kind} {second}"]],
            "category": f"{owner[:2]} {kind}",
        }


def write_comparisons(folder: Path, seed: int = 18) -> Path:
    """The folder of an evaluation with them."""
    turns, questions = comparisons(seed)
    for name, lines in (("turns", turns), ("questions", questions)):
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    return folder
