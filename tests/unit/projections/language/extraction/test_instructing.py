"""Standing instructions: what somebody asks to be done from now on, in both languages, and what only sounds like it."""

from __future__ import annotations

from engramlog_server.projections.language.extraction.instructions import INSTRUCTION
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, TurnText
from tests.rows import each_row


def stated(text: str, speaker: str = "user", role: str = "user") -> list[ExtractedStatement]:
    return [one for one in extract(TurnText("t1", text, role, speaker, "2026-11-20")) if one.asserted]


def asked(text: str, speaker: str = "user", role: str = "user") -> list[str]:
    return [one.content for one in stated(text, speaker, role) if one.kind == INSTRUCTION]


ENGLISH = [
    "Always answer in French", "Never call me before nine", "From now on use metric units",
    "From now on, please respond in bullet points", "Call me Max from now on",
    "Whenever I ask about code, include type hints",
    "Always include version numbers when I ask about software dependencies",
    "Show me the source whenever I ask for a figure", "I want you to always cite sources",
    "Make sure to always include version numbers", "Don't ever recommend peanuts", "Don't call me Bob any more",
    "Going forward, keep answers short", "Never call me if I'm at work",
    "Keep answers short and don't use emojis", "Please keep your replies under three sentences",
    "Please don't use emojis in your answers",
]  # fmt: skip
CHINESE = [
    "以后请用中文回答", "以后都叫我老王", "从现在开始请叫我老王", "以后别在晚上给我发消息", "请始终用公制单位",
    "每次我问天气的时候，请带上湿度", "别再叫我小王了", "以后回答请简短一点", "以后注意用中文回答我",
]  # fmt: skip
NONE = [
    "I always answer in French.", "You never answer in French.", "Please answer in French.",
    "Should I always answer in French?", "She said, always answer in French.", '"Always answer in French" is on the sign.',
    "My mother told me, never call before nine.", "If I were you, always answer.", "From now on I'm vegan.", "Never mind.",
    "Keep your answer short.", "Don't use emojis in your answer.", "I keep my answers short.", "Keep messages coming!",
    "Never give up!", "Never been to Paris.", "Always wanted to go.", "```\nAlways answer in French.\n```",
    "> Always answer in French.", "以后我想当医生。", "以后有机会去看看。", "以后不要熬夜了。", "我以后会注意的。",
    "妈妈说，以后请用中文回答。", "他写道：“以后请用中文回答。”", "以后可以用中文回答吗？",
    "好的，以后我可以请你帮我找找菜谱。", "我每次跑步都用手机听歌。", "那你以后是想找一个厨师的工作吗？",
]  # fmt: skip


@each_row("text", ENGLISH)
def test_an_english_instruction_is_kept_in_its_own_words(text: str) -> None:
    assert asked(f"{text}.") == [f"User has a standing request: {text}"]


@each_row("text", CHINESE)
def test_a_chinese_instruction_is_kept_in_its_own_words(text: str) -> None:
    assert asked(f"{text}。") == [f"用户的长期要求：{text}"]


@each_row("text", NONE)
def test_habits_single_requests_and_what_others_say_are_no_instructions(text: str) -> None:
    assert asked(text) == []


@each_row("text", [*ENGLISH, *CHINESE])
@each_row("role", ["assistant", "tool", "system"])
def test_what_an_assistant_or_a_tool_says_is_never_one(text: str, role: str) -> None:
    assert (asked(text, role, role), asked(text, role, "user")) == ([], [])


def test_of_two_people_who_talk_only_what_is_about_the_speaker_is_one() -> None:
    assert asked("Always keep the receipt!", "Ann") == []
    assert asked("Never call me before nine!", "Ann") == ["Ann has a standing request: Never call me before nine"]


@each_row(
    ("text", "triple"),
    [
        ("Always answer in French.", ("User", "wants answers in", "French")),
        ("Call me Max from now on.", ("User", "wants to be addressed as", "Max")),
        ("以后请用中文回答。", ("用户", "要求回答用", "中文")),
        ("以后都叫我老王。", ("用户", "要求称呼", "老王")),
        ("Never answer in French.", None),
    ],
)
def test_what_has_one_value_at_a_time_has_a_triple(text: str, triple: tuple[str, str, str] | None) -> None:
    (one,) = stated(text)
    assert (None if one.triple is None else tuple(one.triple[:3])) == triple


@each_row("text", ["please " * 4000, "always " * 4000, "请你" * 4000, "以后" * 4000, "每次我" * 2000])
def test_words_of_request_without_end_are_read_in_proportion_to_the_text(text: str) -> None:
    assert asked(text) == []
