"""What a message asks of memory: whether it needs any, and what to search for. English and Chinese, without a model. Pure.

Every pattern takes time proportional to the text, and at most `LONGEST` characters are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple, get_args

from engramlog_server.projections.embedding.idle import NEAR, SURE
from engramlog_server.projections.language.keywords import content_words, says_something, sentences
from engramlog_server.projections.language.kin import chinese as kin_chinese
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.questions import GENERAL_KNOWLEDGE, asked_parts, asks

Need = Literal["yes", "no", "unsure"]
Related = Literal["auto", "always", "never"]
RELATED: tuple[Related, ...] = get_args(Related)
LONGEST = 8_000
"""Characters of a message that are read."""
LONG = 400
"""Characters from which a message is reduced to the sentences that ask."""
SHORT_WORDS = 2
"""Different words up to which a message is understood by the turns before it."""

_FENCES = regex(r"```.{0,8000}?(?:```|$)", 16)
_QUOTES = regex(r"\"[^\"\n]{2,2000}\"|“[^”\n]{2,2000}”|「[^」\n]{2,2000}」|『[^』\n]{2,2000}』|《[^》\n]{1,100}》")
_PAYLOAD = regex(
    r"^(?P<ask>[^:：\n]{0,160}?(?:\b(?:translate|proofread|fix|correct|rewrite|rephrase|paraphrase|summari[sz]e|shorten"
    r"|turn this|convert"
    r"|sort|format|edit|improve|put this|change this)\b|翻译|翻成|译成|改写|改成|润色|总结|概括|缩写|校对|错别字|排序"
    r"|转换|改为|扩写)"
    r"[^:：\n]{0,160})[:：](?P<rest>.+)$",
    2 | 16,
)
_FAVOUR = regex(
    r"\b(?:give|show|tell|help|teach|send|write|make|find|get|draw|remind|explain(?: to)?|let|walk|excuse|forgive|trust"
    r"|pardon) me\b"
    r"|\b(?:can|could|may|how do|how can|how should|how would) (?:i|we)\b|\bi (?:want|need|would like|wonder|have a question)\b"
    r"|\bi(?:'d|’d) like\b|\blet(?:'|’)s\b|(?:帮|给|教|告诉|替|为|请|让|跟|和|对)(?:一下)?我(?!们|的|家|爸|妈|老)",
    2,
)
_SPEAKER = regex(
    lambda: (
        r"\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself|we|we['’](?:re|ve|d|ll)|us|our|ours|ourselves)\b"
        rf"|\b(?:mum|mom|dad|granny|grandma|grandpa|hubby)\b|我|咱|俺|家里|全家|家人|[上下]班(?!族)|领导(?![力者人])|老板|同事|[回老]家|一家[一二三四五六]口|{kin_chinese()}"
    ),
    2,
)
_LIFE = regex(
    r"\b(?:plan|schedule|itinerary|packing|shopping list|gift|present|birthday|anniversary|dinner|workout)\b"
    r"|安排|计划|规划|行程|行李|礼物|生日|纪念日|清单|食谱",
    2,
)
"""Requests that are answered by what somebody's own life is like."""
_BACK = regex(
    r"\b(?:again|as usual|the usual|like before|last time|as always|remember(?:ed)?|remind|previously|earlier"
    r"|we (?:talked|discussed|spoke)"
    r"|you (?:said|told|mentioned|suggested|recommended|gave|know about)|did you|have you|yesterday|the other day|so far"
    r"|our (?:chat|conversation)s?)\b"
    r"|上次|上回|老样子|照旧|还是那|之前|刚才|昨天|前几天|记得|你说过|提到过|聊过|讲过|说过|跟你说",
    2,
)
_PAST = regex(
    r"\b(?:before|previous(?:ly)?|formerly|used to|back then|in the past|old)\b|以前|之前|从前|原来|原先|过去|曾", 2
)
_ONE_THING = regex(
    r"[?？][\"'”’」』)）\s]*$|^\W*(?:(?:and|so|but|please|hey|hi)[, ]+)*(?:what|when|where|who|whom|whose|which|why|how"
    r"|did|does|do|is|are|was|were"
    r"|has|have|had|can|could|will|would|should|am)\b|什么|哪|谁|怎么|怎样|如何|为什么|几[个次种岁点]|多少|多久|是不是"
    r"|有没有|吗|呢",
    2,
)
"""A question; an order ("plan a dinner") may use all that is known."""
_STATES = regex(r"\W*(?:(?:i|we|my|our)\b|我|咱)", 2)
"""How a statement about the speaker begins, which wants nothing done."""
_WORD = regex(r"[a-z0-9][\w'’-]*[a-z0-9]|[a-z0-9]")
_CONTINUES = regex(
    r"^\W*(?:and|but|so|then|also|what about|how about|why not|which one|the (?:first|second|third|last|other) (?:one)?"
    r"|ok(?:ay)?[, ]+(?:and|but|so))\b"
    r"|^(?:那|那么|然后|还有|所以|另外|第[一二三]个)|(?:那个|这个|哪个|呢)[？?]?$",
    2,
)


class MessageRead(NamedTuple):
    """A message as far as memory is concerned."""

    ask: str
    """The message without payload: quoted text, code, text to be translated or fixed."""
    need: Need
    """`unsure`: only the nearness of the owner's best memory can decide."""
    continues: bool
    """It goes on from the turns before it."""
    refers_back: bool
    """It names an earlier conversation."""
    several: bool
    """It asks for several things, an order or a total: the whole budget may be used."""
    orders: bool = False
    """It wants something done, so everything about the user may matter."""
    past: bool = False
    """It asks for what was so before."""


def read_message(text: str, before: Sequence[str] = (), names: Collection[str] = ()) -> MessageRead:
    """Read a message; `before`: the texts of the turns before it, `names`: names that the owner's memories hold, in lower case."""
    ask = without_payload(text)
    plan = asked_parts(ask)
    asks_one = _ONE_THING.search(ask) is not None
    several = plan.many or plan.ordered or len(plan.parts) > 1 or not asks_one
    orders, past = not asks_one and not _STATES.match(ask), _PAST.search(ask) is not None
    continues = bool(before) and (_CONTINUES.search(ask.strip()) is not None or len(content_words(ask)) <= SHORT_WORDS)
    back = _BACK.search(ask) is not None
    if not says_something(ask) and not (continues and asks(ask)):
        return MessageRead(ask, "no", continues, back, several, orders, past)
    plain = _FAVOUR.sub(" ", ask)
    need: Need = "unsure"
    if back or continues or any(pattern.search(plain) for pattern in (_SPEAKER, _LIFE)) or _named(ask, names):
        need = "yes"
    elif GENERAL_KNOWLEDGE.search(ask) is not None:
        need = "no"
    return MessageRead(ask, need, continues, back, several, orders, past)


def decided(message: MessageRead, related: Related, nearness: float | None) -> MessageRead:
    """The message with the decision whether it needs memory; `nearness`: of `projections.embedding.idle`, None without vectors."""
    if related != "auto":
        return message._replace(need="yes" if related == "always" else "no")
    if message.need != "unsure" or nearness is None:
        return message
    return message._replace(need="no" if nearness < NEAR else "unsure" if nearness < SURE else "yes")


def readings(message: MessageRead) -> Iterator[MessageRead]:
    """The message as it is read, then as it may have been read when the words or the names of then are not known."""
    yield message
    for back, need in product((False, True), get_args(Need)[:2]):
        yield message._replace(ask="", refers_back=back, need=need)


def without_payload(text: str) -> str:
    """The message without what it only carries; the whole message if nothing else would be left."""
    text = text[:LONGEST]
    bare = _QUOTES.sub(" ", _FENCES.sub(" ", text)).strip()
    if (carried := _PAYLOAD.match(bare)) is not None:
        bare = carried["ask"].strip()
    return bare or text.strip()


def query_of(message: MessageRead, before: Sequence[str] = ()) -> str:
    """What to search for: the sentences that ask, and the last two turns if the message is understood by them."""
    ask = message.ask
    if len(ask) > LONG:
        parts = sentences(ask)
        kept = [part for at, part in enumerate(parts) if at in (0, len(parts) - 1) or asks(part)]
        ask = " ".join(kept)[:LONGEST]
    if message.continues:
        ask = "\n".join([*before[-2:], ask])
    return ask


def _named(ask: str, names: Collection[str]) -> bool:
    """Whether the message names something that the owner's memories name."""
    folded = ask.casefold()
    words_of = set(_WORD.findall(folded))
    return any(name in words_of or (name in folded and not name.isascii()) for name in names)
