"""What names no cluster and joins no memories: times, numbers, addresses, captions, roles, and whoever is only spoken to."""

from __future__ import annotations

from engramlog_server.projections.reports.knowledge_map import (
    is_called,
    is_of_captions,
    is_timeless,
    knowledge_map,
    names_nothing,
)
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created
from tests.given.views import viewed
from tests.rows import each_row

TIMES = (
    "2023-08-17 13", "2023-08-17", "13:50", "2023", "8 may 2023", "may 2023", "friday", "october", "3 weeks", "10 am",
)  # fmt: skip
TIMES_CHINESE = ("8月17日", "今天", "2023年", "三点", "周三", "第3天", "二十分钟", "星期日")
ADDRESSES = ("https://example.org/a", "www.example.org", "mei@example.org", "photo.jpg", "example.com")
SAYING = (
    "pottery", "2d puzzles", "b2", "sun", "c++", "marching band", "月饼", "天气", "星期五乐队", "日出", "3d printing",
)  # fmt: skip


@each_row("word", [*TIMES, *TIMES_CHINESE, *ADDRESSES])
def test_times_numbers_and_addresses_tell_nothing(word: str) -> None:
    assert not is_timeless(word)


@each_row("word", SAYING)
def test_what_has_letters_or_digits_of_a_name_tells_something(word: str) -> None:
    assert is_timeless(word)


@each_row(
    ("word", "text", "expected"),
    [
        ("photography", "Look! [shared image: a photography of a sunset]", True),
        ("photo", "Here is a photo of my dog", True), ("image", "an image of a wall", True),
        ("photography", "I took up photography last year", False),
        ("photography", "I took up photography. [image: a photography of a sunset]", False),
        ("照片", "看这个[图片：一张照片]", True), ("照片", "我拍了很多照片", False),
        ("sunset", "a photo of a sunset", False),
    ],
)  # fmt: skip
def test_what_captions_begin_with_is_told_from_what_is_talked_of(word: str, text: str, expected: bool) -> None:
    assert is_of_captions(word, text) is expected


@each_row("word", ["user", "AI", "用户", "assistant", "time", "不能", "铁"])
def test_a_role_and_a_word_that_says_nothing_alone_name_nothing(word: str) -> None:
    assert names_nothing(word)


@each_row("word", ["pottery", "茶道", "ai ethics", "time travel", "x"])
def test_a_phrase_that_says_something_names_something(word: str) -> None:
    assert not names_nothing(word)


@each_row(
    ("word", "text"),
    [
        ("mel", "Hey Mel! How are you?"), ("john", "That was great, John!"), ("lin", "My name is Lin."),
        ("焦彦", "焦彦，你可以试试冥想。"), ("曼婷", "你好，张曼婷，我是你的伴侣。"), ("志强", "我叫丁志强，是个工程师。"),
    ],
)  # fmt: skip
def test_whoever_is_only_spoken_to_or_says_his_name_is_called(word: str, text: str) -> None:
    assert is_called(word, text)


@each_row(
    ("word", "text"),
    [
        ("max", "Max is our dog, and Max loves the park."), ("music", "I like music."), ("焦彦", "我和焦彦去爬山。"),
        ("鼓浪屿", "鼓浪屿，我去过两次。"), ("电影", "我喜欢电影，也喜欢音乐。"),
    ],
)  # fmt: skip
def test_who_and_what_is_talked_about_is_not_called(word: str, text: str) -> None:
    assert not is_called(word, text)


TALK = (
    "Hey Mel! The pottery class was on 2023-08-17 13:50. [shared image: a photo of a bowl]",
    "Our pottery class made bowls. [shared image: a photo of a kiln]",
    "The kiln cracked two bowls. [shared image: an image of a kiln]",
    "We hiked the canyon, Mel! [shared image: a photo of a canyon]",
    "The canyon trail is steep, see https://example.org/trail. [shared image: a photo of a trail]",
    "A canyon trail of twelve miles. [shared image: a photo of a map]",
)


def named(view: OwnerView) -> list[str]:
    return [word for one in knowledge_map(ViewQuery(view, at(0), "normal"), None)["clusters"] for word in one["words"]]


def test_clusters_are_named_by_what_they_are_about() -> None:
    words = set(named(viewed(*(created(text, f"m{number}") for number, text in enumerate(TALK)))))
    assert {"kiln", "canyon"} <= {part for word in words for part in word.split()}
    assert not words & {"photo", "image", "mel", "2023-08-17", "2023-08-17 13", "example"}


def test_a_word_of_one_turn_and_its_episode_is_told_once() -> None:
    turn = "Zeppelins crossed the harbour"
    told: list[Told] = [
        created(turn, "t1", source_turns=["t1"]),
        created("The harbour crane turned", "t2", source_turns=["t2"]),
        created("A crane in the harbour at night", "t3", source_turns=["t3"]),
        created(f"[2023-08-17 13:50] Ann: {turn}", "e1", kind="episode", tier="episode", source_turns=["t1", "t2"]),
        *(created(f"The violin lesson {number} was long", f"v{number}") for number in range(4)),
    ]
    words = named(viewed(*told))
    assert "harbour" in words
    assert "zeppelins" not in words
    assert not any(word[0].isdigit() for word in words)
