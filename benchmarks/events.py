"""Synthetic events about many owners or one, and the invented sentences in them: the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from engramlog_server.events.catalogue import (
    LATEST_VERSION,
    Access,
    EventData,
    MemoriesAccessed,
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
)
from engramlog_server.events.envelope import AnyEvent, Event, Prepared, micros, prepare
from engramlog_server.projections.memory.kind import created

SEED = 2_026
STARTS = datetime(2_025, 1, 1, 8, tzinfo=UTC)
NOW = micros(STARTS) + 40 * 86_400_000_000
CLOCK = micros(datetime(2_100, 1, 1, tzinfo=UTC))
"""The clock of validation: after every event."""
APART = timedelta(seconds=17)
EVENTS_AN_OWNER = 20
MIX = ((0.58, "create"), (0.88, "mention"), (0.91, "negate"), (0.96, "access"), (0.99, "revise"), (1.0, "merge"))
"""Cumulative shares: 58 % MemoryCreated, 30 % MemoryMentioned, 3 % Negated, 5 % Accessed, 3 % Revised, 1 % Merged."""
CATEGORIES = ("fact", "stable_preference", "short_term_preference", "temporary", "skill", "identity")


@dataclass(slots=True)
class Owner:
    """An owner and the memories that they have so far."""

    name: str
    created: int = 0
    live: list[str] = field(default_factory=list)

    def new_id(self) -> str:
        self.created += 1
        self.live.append(f"{self.name}-m{self.created}")
        return self.live[-1]


def sample(events: int, owners: int | None = None, *, seed: int = SEED) -> list[AnyEvent]:
    """So many events in random order over the owners; without `owners` 20 events each."""
    owners = max(events // EVENTS_AN_OWNER, 1) if owners is None else owners
    chance, cast = Random(seed), [Owner(f"owner-{number:05d}") for number in range(owners)]
    made = list[AnyEvent]()
    for number in range(events):
        owner = cast[number if number < owners else int(chance.random() * owners)]
        at = STARTS + APART * number
        made.append(_event(owner.name, _data(owner, chance, at), at, chance, number))
    return made


def prepared(events: Sequence[AnyEvent]) -> list[Prepared]:
    """The same, ready to append."""
    return [prepare(event) for event in events]


def memories(owner: str, size: int) -> list[Prepared]:
    """So many memories of one owner, a user and an assistant in turn; every second session of 40 turns is in Chinese."""
    chance, made = Random(f"{SEED} {owner}"), list[Prepared]()
    for number in range(size):
        speak = chinese if number // 40 % 2 else english
        data = created(
            f"t{number}",
            speak(chance),
            kind="turn",
            source="assistant" if number % 2 else "user",
            confidence=round(0.5 + chance.random() / 2, 2),
            source_turns=(f"turn-{number}",),
        )
        made.append(prepare(_event(owner, data, STARTS + APART * number, chance, number)))
    return made


def _event(owner: str, data: EventData, at: datetime, chance: Random, number: int) -> AnyEvent:
    kind = type(data).__name__
    return Event(
        event_id=str(UUID(int=chance.getrandbits(128), version=4)),
        type=kind,
        schema_version=LATEST_VERSION[kind],
        owner=owner,
        occurred_at=at,
        actor="system" if isinstance(data, MemoriesAccessed) else "user",
        data=data,
        session_id=f"s-{number // 40}",
    )


def _data(owner: Owner, chance: Random, at: datetime) -> EventData:
    drawn = chance.random()
    kind = next(name for share, name in MIX if drawn < share)
    if kind == "create" or len(owner.live) < 3:
        return _created(owner, chance)
    memory_id = owner.live[int(chance.random() * len(owner.live))]
    match kind:
        case "mention":
            return MemoryMentioned(memory_id=memory_id, similarity=round(chance.random(), 3))
        case "negate":
            return MemoryNegated(memory_id=memory_id, reason="it changed", correction=mixed(chance))
        case "access":
            shown = Access(at=at, shown=tuple(owner.live[-3:]), first=6, query=mixed(chance))
            return MemoriesAccessed(accesses=(shown,), via="recall")
        case "revise":
            return MemoryRevised(memory_id=memory_id, content=mixed(chance))
        case _:
            sources = tuple(owner.live.pop(int(chance.random() * len(owner.live))) for _ in range(2))
            return MemoryMerged(sources=sources, into=owner.new_id(), summary=mixed(chance))


def _created(owner: Owner, chance: Random) -> MemoryCreated:
    return MemoryCreated(
        memory_id=owner.new_id(),
        content=mixed(chance),
        category=CATEGORIES[int(chance.random() ** 2 * len(CATEGORIES))],  # type: ignore[arg-type]
        kind="preference",
        source="user",
        speaker=owner.name,
        confidence=round(0.5 + chance.random() / 2, 2),
        source_turns=(f"turn-{owner.created}",),
    )


_PEOPLE = "Mara Jonas Priya Chen Lucia Omar Hana Felix Noor Tomas Greta Ivan Sofia Kofi Elena Ravi".split()
_THINGS = (
    "coffee espresso tea bread ramen guitar piano bicycle camera garden novel poster kayak tent laptop keyboard scarf"
    " recipe marathon podcast album mural lantern telescope backpack notebook sweater pottery cactus aquarium drone"
    " violin quilt chessboard skateboard hammock candle compass umbrella typewriter projector"
).split()
_PLACES = (
    "the office,Lisbon,the library,Kyoto,the lake,Oslo,Nairobi,the old market,Quito,Prague,my sister's flat,Hanoi,Denver,"
    "the harbour,Cusco,Galway"
).split(",")
_DOING = (
    "bought,sold,repaired,lost,borrowed,painted,photographed,finished,started,planned,cancelled,enjoyed,forgot,shared"
).split(",")
_FEELING = "happy,tired,nervous,proud,curious,calm,annoyed,grateful,surprised,relieved".split(",")
_TOPICS = (
    "the school reunion,her new job,the budget for spring,our hiking trip,the broken boiler,a pottery class,"
    "learning Portuguese,the support group,his knee surgery,the charity run,moving house,the wedding speech"
).split(",")
_ENGLISH = (
    "I {doing} a {thing} in {place} last {day}, and {person} was really {feeling} about it.",
    "{person} and I talked about {topic} over {thing}; we decided to wait until {month}.",
    "Honestly I prefer the {thing} from {place}, it reminds me of {topic}.",
    "Did I tell you that {person} {doing} my {thing}? It was the last one on the list for {month}.",
    "I'm {feeling} today: {topic} went well and I finally {doing} the {thing}.",
    "Next {day} I'm going to {place} with {person}, mostly because of {topic}. I'll bring the {thing} along.",
    "My favourite {thing} is still the one {person} gave me in {month}, after {topic}.",
)
_NUMBERED = "I counted again and it is {number} now, which {person} did not believe at all."
_DAYS = "Monday,Tuesday,Wednesday,Thursday,Friday,weekend".split(",")
_MONTHS = "January,March,May,June,August,October,December".split(",")

_ZH_PEOPLE = "小林,老周,阿敏,婷婷,王老师,表哥,李姐,同事".split(",")
_ZH_THINGS = "咖啡,吉他,自行车,相机,小说,帐篷,键盘,围巾,菜谱,播客,陶艺,望远镜,背包,毛衣,鱼缸,无人机,雨伞,钢琴".split(
    ","
)
_ZH_PLACES = "杭州,成都,图书馆,公司,湖边,老市场,青岛,昆明,健身房,奶奶家".split(",")
_ZH_TOPICS = "同学聚会,新的工作,春天的预算,徒步旅行,学葡萄牙语,膝盖手术,搬家的事,婚礼致辞,周末的比赛".split(",")
_ZH_FEELING = "开心,累,紧张,自豪,好奇,平静,感激,惊讶".split(",")
_CHINESE = (
    "上个月我在{place}买了一个{thing},{person}知道以后特别{feeling}。",
    "我和{person}聊了{topic},最后决定等到{person}回来以后再说。",
    "其实我更喜欢{place}的{thing},因为它让我想起{topic}。",
    "今天有点{feeling},{topic}总算有了结果,晚上想弹一会儿{thing}。",
    "下周我要和{person}一起去{place},主要是为了{topic}。",
)
_ZH_NUMBERED = "我又数了一遍,一共{number}个,{person}完全不相信。"
_SHARE_NUMBERED = 0.04
"""Share of the sentences with a number in them: few in speech, and dear to the rules that look for secrets."""


def english(chance: Random) -> str:
    """One or two sentences, 60 to 220 characters, 125 in the mean."""
    first = _english(chance)
    return first if chance.random() < 0.6 else f"{first} {_english(chance)}"


def _english(chance: Random) -> str:
    return _template(_ENGLISH, _NUMBERED, chance).format(
        doing=_pick(_DOING, chance),
        thing=_pick(_THINGS, chance),
        place=_pick(_PLACES, chance),
        person=_pick(_PEOPLE, chance),
        feeling=_pick(_FEELING, chance),
        topic=_pick(_TOPICS, chance),
        day=_pick(_DAYS, chance),
        month=_pick(_MONTHS, chance),
        number=int(chance.random() ** 3 * 5_000),
    )


def chinese(chance: Random) -> str:
    """One or two sentences, 20 to 70 characters, 37 in the mean."""
    first = _chinese(chance)
    return first if chance.random() < 0.5 else f"{first}{_chinese(chance)}"


def _chinese(chance: Random) -> str:
    return _template(_CHINESE, _ZH_NUMBERED, chance).format(
        thing=_pick(_ZH_THINGS, chance),
        place=_pick(_ZH_PLACES, chance),
        person=_pick(_ZH_PEOPLE, chance),
        feeling=_pick(_ZH_FEELING, chance),
        topic=_pick(_ZH_TOPICS, chance),
        number=int(chance.random() * 5_000),
    )


def _template(usual: tuple[str, ...], numbered: str, chance: Random) -> str:
    return numbered if chance.random() < _SHARE_NUMBERED else usual[int(chance.random() * len(usual))]


def _pick(words: list[str], chance: Random) -> str:
    """Words at the front of a list come more often than those at its end."""
    return words[int(chance.random() ** 2 * len(words))]


def mixed(chance: Random) -> str:
    """English twice as often as Chinese."""
    return chinese(chance) if chance.random() < 1 / 3 else english(chance)


def questions(count: int, seed: int) -> list[str]:
    """Questions of about six words, every second one in Chinese."""
    chance = Random(seed)
    return [chinese(chance)[:12] if number % 2 else " ".join(english(chance).split()[:6]) for number in range(count)]
