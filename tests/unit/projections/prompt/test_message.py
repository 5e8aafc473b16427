"""Whether a message needs memory, and what is searched for. Each test reports all rows that fail."""

from __future__ import annotations

from engramlog_server.projections.prompt.gathering import decided, query_of, read_message, without_payload

NAMES = frozenset({"nora", "biscuit", "阿福", "小雨"})
IDLE = (
    "What is 91 divided by 7?", "Who painted the Night Watch?", "Translate into French: I am tired and my feet hurt.",
    "Fix the grammar: me and him goes to school", "Write a haiku about rain.", "What is the capital of Mongolia?",
    "How do I sort a list in Python?", "Thanks!", "Hello", "27乘以14等于多少？",
    "把下面这句话翻译成英文：我昨天去看了医生。", "写一首关于春天的绝句。", "蒙古的首都是哪里？", "谢谢！", "你好",
    "“画蛇添足”是什么意思？",
)  # fmt: skip
NEEDS = (
    "What should I cook tonight?", "Plan a dinner for my family", "Is Nora allowed to eat this?", "What does Biscuit eat?",
    "Book the usual table", "What did we talk about last time?", "I moved to Porto last week.", "Find a present for Mum",
    "今晚我吃什么好？", "小雨喜欢什么？", "帮我安排一下周末", "上次说到哪里了？", "还是老样子来一份", "我们家几口人？",
)  # fmt: skip


def test_idle_messages_need_no_memory_and_personal_ones_do() -> None:
    needs = {text: read_message(text, (), NAMES).need for text in (*IDLE, *NEEDS)}
    assert [(text, needs[text]) for text in IDLE if needs[text] == "yes"] == []
    assert [(text, needs[text]) for text in NEEDS if needs[text] != "yes"] == []


def test_a_follow_up_needs_what_the_turns_before_it_do() -> None:
    before = ("Which of the two flats is cheaper?", "The first one.")
    rows = {"And the second?": True, "那个呢": True, "What is 91 divided by 7?": False}
    read = {text: read_message(text, before) for text in rows}
    assert {text: one.continues for text, one in read.items()} == rows
    assert query_of(read["And the second?"], before) == "\n".join((*before, "And the second?"))
    assert read_message("And the second?").continues is False, "there is nothing to go on from"


def test_payload_is_not_read_as_what_the_message_asks() -> None:
    rows = {
        "Translate into French: I live in Oslo with my cat": "Translate into French",
        "Fix this\n```\nmy = 1\n```": "Fix this",
        "翻译成英文：我住在成都": "翻译成英文",
        "What does “my cup of tea” mean?": "What does   mean?",
        "I live in Oslo": "I live in Oslo",
    }
    assert {text: without_payload(text) for text in rows} == rows


def test_of_a_long_message_the_sentences_that_ask_and_its_first_and_last_are_searched_for() -> None:
    filler = "The weather was fair and the road was long. " * 12
    text = f"I came home late. {filler}Where does my sister live? {filler}Good night."
    assert query_of(read_message(text)) == "I came home late. Where does my sister live? Good night."


def test_only_an_unsure_message_is_decided_by_nearness_and_an_option_overrides() -> None:
    unsure = read_message("Which kettle is quiet?")._replace(need="unsure")
    assert [decided(unsure, "auto", near).need for near in (-1.0, 1.5, 2.5)] == ["no", "unsure", "yes"]
    assert [decided(unsure, way, None).need for way in ("auto", "always", "never")] == ["unsure", "yes", "no"]
    assert decided(read_message("Where do I live?"), "auto", 0.0).need == "yes"
    assert decided(read_message("Thanks!"), "always", None).need == "yes"


def test_an_order_or_a_question_about_several_things_may_use_the_whole_budget() -> None:
    rows = {
        "Plan a dinner for my family": True,
        "Which is dearer, the chess club or the pottery class?": True,
        "How many cups do I drink?": True,
        "Where do I live?": False,
        "我住在哪里？": False,
    }
    assert {text: read_message(text).several for text in rows} == rows
