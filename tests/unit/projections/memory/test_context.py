"""Context tags and emotion: the rules by exact tables, the word lists by labelled everyday texts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import available_timezones

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import micros
from engramlog_server.events.parameters import DEFAULTS, changed
from engramlog_server.events.trust import ORDER
from engramlog_server.projections.index.names import ToldTags
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.tags import TAGS, Context, context_of, contextual_match, entries
from tests.given.events import created
from tests.given.views import viewed
from tests.rows import each_row

EVENING = "2026-11-25T20:00:00"  # a Wednesday: no time tag

TIMES = [
    ("a microsecond before work", "2026-11-23T08:59:59.999999", "UTC", ""),
    ("work begins", "2026-11-23T09:00:00", "UTC", "work_hours"),
    ("a microsecond before its end", "2026-11-23T17:59:59.999999", "UTC", "work_hours"),
    ("work ends", "2026-11-23T18:00:00", "UTC", ""),
    ("a microsecond before the night", "2026-11-23T21:59:59.999999", "UTC", ""),
    ("the night begins", "2026-11-23T22:00:00", "UTC", "late_night"),
    ("a microsecond before its end", "2026-11-23T05:59:59.999999", "UTC", "late_night"),
    ("the night ends", "2026-11-23T06:00:00", "UTC", ""),
    ("Saturday's office hours", "2026-11-21T10:00:00", "UTC", "work_hours weekend"),
    ("Friday afternoon in UTC", "2026-11-20T16:00:00", "UTC", "work_hours"),
    ("is Saturday's first minute in Shanghai", "2026-11-20T16:00:00", "Asia/Shanghai", "late_night weekend"),
    ("and a microsecond earlier it is Friday", "2026-11-20T15:59:59.999999", "Asia/Shanghai", "late_night"),
    ("Sunday's last second in Shanghai", "2026-11-22T15:59:59", "Asia/Shanghai", "late_night weekend"),
    ("Monday there, Sunday in UTC", "2026-11-22T16:00:00", "Asia/Shanghai", "late_night"),
    ("nine in New York's summer", "2026-07-01T13:00:00", "America/New_York", "work_hours"),
    ("eight in its winter", "2026-01-05T13:00:00", "America/New_York", ""),
    ("a zone of half an hour", "2026-11-23T03:30:00", "Asia/Kolkata", "work_hours"),
    ("the earliest instant", "1900-01-01T00:00:00", "UTC", "late_night"),
    ("the last one, in the easternmost zone", "9999-12-31T00:00:00", "Pacific/Kiritimati", "work_hours"),
]

WORDS = [
    ("nothing is nothing", "", ""),
    ("more positive words than negative ones", "Great trip, lovely people, bad food", "positive"),
    ("more negative words than positive ones", "Great view, but a terrible, rude waiter", "negative"),
    ("as many of both: neither", "I love it and I hate it", ""),
    ("forms of one word count once", "sad, sadder, sadly ... but great and fun", "positive"),
    ("a word that is said twice counts once", "好累，好累，不过很开心，很幸福", "positive"),
    ("the seed's words", "success 解决 vs 崩溃", "positive"), ("urgent is no mood", "立即 blocking", "urgent"),
    ("optimising is both positive and calm", "优化 optimized", "positive calm"),
    ("words are whole: no port, test, error, api in these", "important testament terror rapid latest", ""),
    ("an underscore parts words", "run test_login before the db_dump", "testing data_model"),
    ("a digit does not", "80db api2", ""),
    ("capitals do not matter", "The API threw a KeyError. URGENT!", "negative urgent debugging api_design"),
    ("a possessive is the word", "the database's size and the API’s limits", "api_design data_model"),
    ("a phrase is read as one", "he passed away", "negative"),
    ("but not across a clause", "the bill passed, away from the cameras", "positive"),
    ("a mask hides the words inside it", "the blood test and the driving test in Great Britain", ""),
    ("in Chinese too", "不好意思，问一个问题，我爱人做过性格测试", ""),
    ("not happy is negative", "I'm not happy", "negative"),
    ("with light words between", "it isn't really that good_news, not at all fun", "negative"),
    ("the curly apostrophe is one", "I don’t love it", "negative"),
    ("a negated complaint is none", "no problem, no more errors, never sad", ""),
    ("a negator reaches no further than its clause", "No, I love it", "positive"),
    ("nor past a word of weight", "not only happy", "positive"), ("nor across an emoji", "还没 😊", "positive"),
    ("not urgent is not urgent", "not urgent; nothing critical", ""),
    ("a topic that is denied is a topic", "there are no tests and no schema", "testing data_model"),
    ("no hurry is calm", "no rush, 不着急", "calm"), ("不开心 is negative", "我今天不开心", "negative"),
    ("with light words between, in Chinese", "我不是特别喜欢", "negative"),
    ("特别 is no negator", "我特别喜欢", "positive"), ("nor is 不得不", "不得不感谢你", "positive"),
    ("没有问题 is no complaint", "没有问题，也没出现任何报错，别担心", ""), ("没解决 is one", "还没解决", "negative"),
    ("a question says neither", "你是不是很开心？有没有 bug？", ""),
    ("a Chinese negator denies an English word", "跑完没有error，老板不太 happy", "negative"),
    ("a Chinese word further on does not", "不知道这个bug", "negative debugging"),
    ("what was repaired is no complaint", "Fixed the bug behind the timeout error", "positive debugging"),
    ("in Chinese too: repaired", "登录超时的问题解决了", "positive"),
    ("what was not repaired is", "The bug is not fixed", "negative debugging"),
    ("other complaints stay", "Fixed the bug, but I'm tired and sad", "negative debugging"),
    ("emoji speak", "🎉❤️ 🆘", "positive urgent"),
    ("an English word in a Chinese sentence", "这个api的unittest跑了吗", "testing api_design"),
]  # fmt: skip


def memory(content: str = "", *, at: str = EVENING, **fields: Any) -> Memory:
    then = micros(datetime.fromisoformat(at).replace(tzinfo=UTC))
    told = {"category": "fact", "kind": "note", "tier": "fact", "source": "user", "created_seq": 1}
    times = {"created_at": then, "updated_at": then, "last_activated_at": then, "stamp": then}
    return Memory(id="m", content=content, **(told | times | fields))


def tags_of(content: str, **fields: Any) -> str:
    return " ".join(context_of(memory(content, **fields), DEFAULTS).tags)


@each_row(("at", "zone", "expected"), [case[1:] for case in TIMES], ids=[case[0] for case in TIMES])
def test_time_tags_go_by_the_owners_zone(at: str, zone: str, expected: str) -> None:
    found = context_of(memory(at=at), changed(DEFAULTS, {"time_zone": zone}))
    assert found == Context(tuple(expected.split()), 0.0)


def test_what_was_imported_has_no_time_of_day_while_the_owners_zone_is_unknown() -> None:
    for how in ({"imported": True}, {"trust": ORDER["imported"]}):
        for at in ("2026-11-21T10:00:00", "2026-11-21T23:30:00"):
            one = memory("great", at=at, **how)
            assert context_of(one, DEFAULTS).tags == ("weekend", "positive")
            assert len(context_of(one, changed(DEFAULTS, {"time_zone": "Etc/UTC"})).tags) == 3
            told = ToldTags()
            told.put(0, one)
            columns = viewed(created("great", day=5)).columns
            assert all(told.names[tag] not in ("work_hours", "late_night") for tag in told.pairs(columns, "UTC").tags)


@each_row(("text", "expected"), [case[1:] for case in WORDS], ids=[case[0] for case in WORDS])
def test_a_text_has_these_tags(text: str, expected: str) -> None:
    assert tags_of(text) == expected


@each_row(
    ("text", "emotion"),
    [
        ("the sky", 0.0), ("great", 0.5), ("sad", -0.3), ("urgent", 0.3), ("great, and urgent", 0.8),
        ("sad, and urgent", 0.0), ("great and sad", 0.0),
    ],
)  # fmt: skip
def test_the_emotion_goes_by_the_tags(text: str, emotion: float) -> None:
    assert context_of(memory(text), DEFAULTS).emotion == emotion


PRODUCERS = [
    ("own tags come first, derived ones follow", ("berlin", "api"), None, ("berlin", "api", "positive"), 0.5),
    ("a tag of ours overrides all derived ones", ("berlin", "calm"), None, ("berlin", "calm"), 0.0),
    ("a mood so told is the emotion", ("negative", "urgent"), None, ("negative", "urgent"), 0.0),
    ("an emotion so told is the emotion", (), -0.9, ("positive",), -0.9),
    ("also when it is none", (), 0.0, ("positive",), 0.0),
]


@each_row(
    ("tags", "emotion", "expected", "felt"), [case[1:] for case in PRODUCERS], ids=[case[0] for case in PRODUCERS]
)
def test_what_the_producer_set_wins(
    tags: tuple[str, ...], emotion: float | None, expected: tuple[str, ...], felt: float
) -> None:
    assert context_of(memory("I love it", tags=tags, emotion=emotion), DEFAULTS) == Context(expected, felt)


def test_a_secret_is_not_read_but_has_its_time_and_what_the_producer_said() -> None:
    assert (
        tags_of("I love my password", at="2026-11-21T23:00:00", sensitivity=3, tags=("vault",))
        == "vault late_night weekend"
    )
    assert tags_of("I love my street", sensitivity=2) == "positive"


def test_a_purged_memory_has_no_context() -> None:
    purged = memory("I love it", at="2026-11-21T23:00:00", tags=("berlin",), emotion=0.7, purged_at=1)
    assert context_of(purged, DEFAULTS) == Context((), 0.0)


@each_row(
    ("asked", "share"),
    [
        (["late_night", "debugging"], 1.0), (["late_night", "calm"], 0.5), (["calm"], 0.0),
        (["calm", "late_night", "late_night"], 0.5), ([], 1.0),
    ],
)  # fmt: skip
def test_the_contextual_match_is_the_share_of_the_asked_tags(asked: list[str], share: float) -> None:
    assert contextual_match(asked, ("late_night", "debugging", "berlin")) == share


INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(9999, 12, 31)).map(datetime.isoformat)
ZONES = st.sampled_from(sorted(available_timezones()))
FORMS = [form for one in entries() if one.families for form in one.english + one.chinese]
LISTED = st.sampled_from([*FORMS, "not", "没有", "，", "."])
TEXTS = st.text() | st.lists(LISTED | st.text(max_size=3), max_size=12).map(" ".join)


@given(TEXTS, st.none() | TEXTS, INSTANTS, ZONES)
def test_any_text_at_any_time_has_tags_in_order_with_one_mood_at_most(
    text: str, summary: str | None, at: str, zone: str
) -> None:
    found = context_of(memory(text, at=at, summary=summary), changed(DEFAULTS, {"time_zone": zone}))
    assert found.tags == tuple(tag for tag in TAGS if tag in found.tags)
    assert not {"positive", "negative"} <= set(found.tags)
    assert not {"work_hours", "late_night"} <= set(found.tags)
    assert -0.3 <= found.emotion <= 0.8
