"""What extraction reads and gives: turns, the talk in their texts, and what somebody states in them (memory.md, sections 1 and 2).

`talk_of` closes up white space and leaves out what is no talk (code, quoted lines, pasted letters); places are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.events.text import HIDDEN
from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import one_line
from engramlog_server.projections.language.statements import IN_LATIN, form_of, like, without_strokes

NOBODY = frozenset({"user", "other", "human", "me", "用户", ""})
"""Speakers whose name says nothing about who they are."""
_MACHINES = frozenset({"assistant", "tool", "system"})
"""Roles and speakers that assert nothing about the user."""


class TurnText(NamedTuple):
    """Something that was said."""

    turn_id: str
    text: str
    role: str = "user"
    """user, assistant, tool, system or other; only a user or another person asserts anything."""
    speaker: str | None = None
    day: str | None = None
    """The day on which it was said, as YYYY-MM-DD in the owner's time zone: what "yesterday" is read from."""
    asked: str = ""
    """The assistant's text just before it in its session."""
    before: str = ""
    """People's text before that in its session, up to 400 characters."""

    @property
    def name(self) -> str | None:
        """The speaker's name as one line, or None if only a role is known."""
        spoken = one_line(self.speaker or "")
        return None if spoken.casefold() in NOBODY else spoken

    def called(self, *, han: bool) -> str:
        """The speaker's name, or "User" in the language."""
        return self.name or ("用户" if han else "User")

    def dated(self, content: str, *, han: bool) -> str:
        """A content with the day on which it was said, if that is known."""
        return content + (f"（{self.day}说）" if han else f" (said on {self.day})") if self.day else content

    @property
    def year(self) -> int | None:
        """The year in which it was said, or None where no day is known."""
        return int(self.day[:4]) if self.day else None

    @property
    def by_person(self) -> bool:
        """Whether a user or a named person says it."""
        return self.role in ("user", "other") and (self.speaker or "").casefold() not in _MACHINES


class StatedTriple(NamedTuple):
    """A triple as stated."""

    subject: str
    predicate: str
    object: str
    negation: bool = False
    degree: float | None = None
    """How often or how much, from 0 to 1; None where nothing is said of it."""
    condition: str | None = None
    """When it holds, in the words of the clause: "in the morning", 下雨的时候."""


class ExtractedStatement(NamedTuple):
    """What one clause of a turn says about its speaker, in words that stand by themselves."""

    content: str
    category: Category
    kind: str
    """fact, user_preference, plan, decision, note, or question."""
    polarity: int
    """-1 where it denies something, else 1."""
    asserted: bool
    """False for a question, a supposition or another person's words: never stored as a fact."""
    confidence: float
    span: tuple[int, int]
    """Where the clause stands in the turn's text: start and end, in characters."""
    keywords: tuple[str, ...] = ()
    triple: StatedTriple | None = None
    correction: bool = False
    """The speaker says that something said before was wrong."""
    ends: str | None = None
    """The statement that holds no longer, in words that a memory of it would have."""


class ExtractionRule(NamedTuple):
    """One way to state something: matched on a clause, gives class and triple."""

    pattern: str | Callable[[], str]
    """A function where it is made of words that are read at first use."""
    category: Category
    kind: str
    confidence: float
    predicate: str | None = None
    """Of the triple, whose object is the pattern's group `object`; None: no triple."""
    dislikes: bool = False
    """The predicate is denied by the verb itself: "I hate it" denies `likes`."""
    loose: bool = False
    """The object may be a single plain word."""
    sharp: bool = False
    """The object needs a name, a number or a time."""


class Clause(NamedTuple):
    """A piece of a turn that may state one thing."""

    text: str
    start: int
    end: int
    asserted: bool
    question: bool
    before: str = ""
    """The clause before it in its sentence: "Actually, ..." is one."""
    after: str = ""
    """The clause after it in its sentence: "but only for the summer" is one."""
    elided: bool = False
    """A subject that it leaves out at its beginning is the speaker: "Got married last week"."""
    around: str = ""
    """Its sentence and the next one, 1,000 letters at most; empty where nobody asks for it."""


MOST_READ = 8_000
"""Characters of a turn that are read."""
_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_GAP = regex(rf"(?<=\w)\s?(?:[{_EMOJI}]\s?)+(?=\w)|\s{{2,}}|\*\*|(?<!\S)\*(?=\w)|(?<=[\w,.!?])\*(?!\w)")
"""What is read as one space or line break: white space, and emoji between words. Marks of emphasis are left out."""
_NO_TALK = regex(
    r"```.*?(?:```|\Z)|`[^`\n]*\n|\[shared [^\]]*\]|^\s?[>|][^\n]*|https?://\S+"
    r"|^\s?From: [^\n]*\n(?:\s?To: [^\n]*\n)?\s?(?:Sent|Date|Subject|Cc): .*\Z",
    re.DOTALL | re.MULTILINE,
)


_WORKED_ON = (
    r"translate|paraphrase|rewrite|re-?phrase|reword|proofread|summari[sz]e|shorten|correct|fix|edit|polish|improve|review|check"
    r"|critique|format|tidy up|answer(?! me\b)|reply to|respond to"
)
_PASTED = (
    r"e-?mails?|mails?|messages?|letter|texts?|dms?|cv|resume|résumé|post|comment|article|review|essay|story"
    r"|poem|lyrics|transcript|speech|blurb|cover letter|quote|advert?|excerpt|paragraph|note from (?!me\b)\w+"
)
_PASTED_CHINESE = (
    "邮件|来信|信|短信|消息|微信|留言|简历|文章|帖子?|评论|作文|日记|聊天记录|朋友圈|稿子?|文案|段落|歌词|台词|原话"
)
_CARRIED = regex(
    r"(?:^|(?<=[.!?\n])\s?)(?:(?:please|now|then|hi|hey|ok(?:ay)?|(?:can|could|would|will) you|help me(?: to)?|and),? ){0,4}"
    rf"(?:(?:{_WORKED_ON})\b[^:.?!\n]{{0,120}}"
    r"|(?:(?:here(?:'s| is)|this is|below is|see|i(?:'ve)? (?:just )?(?:got|received|found|read)) )?"
    rf"(?!(?:[\w'-]+ ){{0,3}}my (?:story|review|comment|post)\b)"
    rf"(?:the |this |an? |my |his |her |their )?(?:[\w'-]+ ){{0,3}}?(?:{_PASTED})"
    r"(?: (?:i|that|from|of|by|to|she|he|they|about|says|said|for|below|on)\b[^:.?!\n]{0,80})?):(?=\s|[\"“])(?P<carried>.*)\Z"
    r"|(?:翻译|翻成|译成|润色|改写|改一?下|修改|校对|缩写|扩写|总结|概括|优化|检查)[^，。：:？！\n]{0,20}[：:]"
    r"(?P<carried_chinese>.*)\Z"
    r"|(?:(?:这是|下面是|以下是|附上|转发|收到了?|发来了?|写来|看到了?|贴一下)[^，。：:？！\n]{0,16}"
    rf"(?:{_PASTED_CHINESE})|[^，。：:？！\n我]{{1,10}}(?:写的|发来的?|留言|原话是?))[：:](?P<shown>.*)\Z",
    re.DOTALL | re.IGNORECASE,
)
"""A text that is to be worked on, or that is shown: somebody wrote it, and not to the assistant. It goes on to the end."""
_GREETING = regex(
    r"^\s?(?:(?:Hi|Hey|Hello|Dear)\b[^\n.?!]{0,40},|[你您]好[，,：:！!]?)\n", re.MULTILINE | re.IGNORECASE
)
_CLOSING = regex(
    r"\n\s?(?:best|(?:kind |best |warm )?regards|love|yours|sincerely|yours (?:sincerely|faithfully|truly)|all the best"
    r"|best wishes|祝好|此致|敬上|谨启|敬礼)[,，]?\n",
    re.IGNORECASE,
)
"""A letter from its greeting to the name under it; who thanks at its end writes to the assistant."""
_OF_A_CV = regex(
    r"^\s?(?:#+ )?(?:(?:work |professional )?experience|education|(?:key |technical )?skills|employment(?: history)?"
    r"|certifications|references|(?:professional )?summary|objective"
    r"|工作经[历验]|教育(?:背景|经历)|(?:专业)?技能|自我评价|求职意向|项目经[历验]|个人信息)[:：]?\s*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A heading of a CV."""
_LEAST_HEADINGS = 2
"""Headings from which a text is a CV."""
_LETTER = regex(
    r"\n\s?(?:Subject:|(?:Hi|Hey|Hello|Dear) (?:[A-Z]\w+|\[[^\]\n]{1,40}\])(?: [A-Z]\w+)?,|(?:亲爱的"
    r"|尊敬的)[^\n，：:]{1,20}[，：:]).*\Z",
    re.DOTALL,
)
_TO_BE_SENT = regex(
    r"\b(?:message|e-?mail|letter|draft|note|text|invite|post|reply|send|write)\b|信|邮件|短信|消息|草稿|回复|发给",
    re.IGNORECASE,
)


class ReadableText(NamedTuple):
    """What is read of a turn, and where it stands there."""

    text: str
    """No white space follows another: the rules take time in proportion to the text only without long gaps."""
    places: tuple[int, ...]
    """Place in the turn's text of each character, and of the end."""

    def span(self, span: tuple[int, int]) -> tuple[int, int]:
        """Start and end in the turn's text of a span of `text`."""
        start, end = span
        return self.places[start], self.places[end - 1] + 1 if end > start else self.places[start]


def talk_of(text: str) -> ReadableText:
    """What is read of a text: its first `MOST_READ` characters without code, quoted lines, tables and addresses."""
    end_of_text = min(len(text), MOST_READ)
    text, plain_places = _plain(text[:MOST_READ])
    left: list[str] = []
    places: list[int] = []
    start = 0
    for gap in [*_GAP.finditer(text), None]:
        end = len(text) if gap is None else gap.start()
        left.append(text[start:end])
        places += plain_places[start:end]
        if gap is not None and "*" in gap[0]:
            start = gap.end()
        elif gap is not None:
            left.append("\n" if "\n" in gap[0] else " ")
            places.append(plain_places[gap.start()])
            start = gap.end()
    closed = _without_pasted(_NO_TALK.sub(lambda found: "\n" * len(found[0]), "".join(left)))
    return ReadableText(closed, (*places, end_of_text))


def _without_pasted(text: str) -> str:
    """The text without drafts, pasted letters and CVs, and texts to be worked on; line breaks stand in their place."""

    def blanked(text: str, start: int, end: int) -> str:
        return text[:start] + "\n" * (end - start) + text[end:]

    letter = _LETTER.search(text)
    if letter is not None and _TO_BE_SENT.search(text, 0, letter.start()):
        text = blanked(text, letter.start(), len(text))
    if (carried := _CARRIED.search(text)) is not None:
        text = blanked(text, carried.start(str(carried.lastgroup)), len(text))
    greeting = _GREETING.search(text)
    if greeting is not None and (closing := _CLOSING.search(text, greeting.end())) is not None:
        text = blanked(text, greeting.start(), closing.end())
    headings = [one.start() for one, _ in zip(_OF_A_CV.finditer(text), range(_LEAST_HEADINGS), strict=False)]
    return blanked(text, headings[0], len(text)) if len(headings) == _LEAST_HEADINGS else text


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """The text in plain letters, as a rejection compares it, and where each letter stood.

    Full-width and other forms of ASCII letters, digits and spaces are read as these; invisible characters and strokes over letters
    are left out; letters of other alphabets that look Latin are Latin beside Latin ones, where each of that alphabet in the text
    looks so. A text in capitals is read in small letters.
    """
    if text.isascii():
        return (text.lower() if text.isupper() and text.count(" ") > 1 else text), range(len(text))
    latin = any(one.isascii() and one.isalpha() for one in text)
    foreign = {one for one in text if not one.isascii() and one.isalpha() and _script(one) in _ALPHABETS}
    alike = _alike() if latin else {}
    disguised = {_script(one) for one in foreign} - {_script(one) for one in foreign if one not in alike}
    letters, places = list[str](), list[int]()
    for place, one in enumerate(text):
        form = one if one.isascii() else _form(one)
        if one in foreign and _script(one) in disguised:
            form = alike[one]
        letters.append(form)
        places += [place] * len(form)
    return "".join(letters), places


@cache
def _alike() -> dict[str, str]:
    """Each letter of another alphabet that looks Latin, in both cases -> the Latin one."""
    small = {letter: latin for script in _LIKE_LATIN for letter, latin in like()[script].items() if latin.isascii()}
    large = {letter.upper(): latin.upper() for letter, latin in small.items() if len(letter.upper()) == 1}
    return large | {letter: latin.upper() for letter, latin in IN_LATIN.items() if letter.isupper()} | small


_LIKE_LATIN = ("greek", "cyrillic", "armenian")
_ALPHABETS = frozenset(name.upper() for name in _LIKE_LATIN)


@lru_cache(4_096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


@lru_cache(4_096)
def _form(character: str) -> str:
    """One character in its plain form: nothing for an invisible one, ASCII for a form of an ASCII letter, digit or space."""
    if character in "\x85\u2028\u2029\u2800":
        return " " if character == "\u2800" else "\n"
    if HIDDEN.match(character) or not without_strokes(character):
        return ""
    if character in like()["small capitals"]:
        return like()["small capitals"][character]
    plain = unicodedata.normalize("NFKC", character)
    plain = form_of(character) if plain == character and unicodedata.category(character) == "So" else plain
    return plain if plain.isascii() and (plain.isalnum() or plain == " ") else character
