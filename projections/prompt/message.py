"""What a message asks of memory: whether it needs any, and what to search for. English and Chinese, without a model. Pure.

Every pattern takes time proportional to the text, and at most `LONGEST` characters are read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, get_args

from projections.embedding.idle import NEAR, SURE
from projections.language.asked_words import says_something
from projections.language.asking.parts import asked_parts, asks
from projections.language.extractive import sentences, words
from projections.language.kin import chinese as kin_chinese
from projections.language.patterns import regex

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
        rf"|\b(?:mum|mom|dad|granny|grandma|grandpa|hubby)\b|我|咱|俺|家里|全家|家人|一家[一二三四五六]口|{kin_chinese()}"
    ),
    2,
)
_GENERAL = regex(
    r"\b(?:translate|synonyms?|antonyms?|rhymes?|haiku|limerick|poem|sonnet|riddle|joke|past tense|plural|passive voice"
    r"|conjugate|spell|typo"
    r"|palindrome|regex|regular expression|algorithm|bubble sort|command line|sql query|python|javascript|html|css|http"
    r"|json|unicode|binary"
    r"|capital (?:city )?of|population of|square root|boiling point|melting point|freezing point|speed of (?:light|sound)"
    r"|light year"
    r"|difference between|meaning of|definition of|plot of|theory of|formula (?:of|for)|chemical symbol|atomic number"
    r"|prime number"
    r"|what (?:does|do|is|are) (?:\S+ ){1,6}(?:mean|stand for|called in \w+)|who (?:wrote|painted|invented|discovered"
    r"|composed|founded|directed|was the first)"
    r"|how many \w+ (?:are )?(?:there )?(?:in|make) (?:an?|one)\b|which is (?:larger|bigger|longer|heavier|older|faster)"
    r"|(?:why|how) (?:is|are|do|does|did) (?:the )?(?:sky|sun|moon|stars?|sea|ocean|earth|leaves|cats|dogs|birds|bees"
    r"|planes?|rainbows?|magnets?|volcano(?:es)?)\b"
    r"|what year (?:did|was)|when (?:did|was) (?:the )?(?:\w+ ){0,3}(?:war|wall|revolution|empire|dynasty|treaty|battle"
    r"|titanic)"
    r"|how long (?:does|do|should) (?:an? )?\w+ (?:take to|have to be|be) (?:\w+-)?(?:boil|cook|bake|roast|steam|hatch|digest)"
    r"|(?:sort|add|sum|multiply|convert|round) (?:these|this|the following|\d)|alphabetical order)\b"
    r"|\d\s*(?:[-+*/x×÷^%]|times|plus|minus|divided by)\s*\d"
    r"|等于(?:多少|几)|(?:乘以|除以|加上|减去|的平方)|多少(?:公里|米|克|千克|毫升|升|平方|度)(?!.{0,4}[路远])|一(?:斤"
    r"|公斤|光年|英里|英寸|海里|亩)"
    r"|翻译|翻成|译成|近义词|反义词|造句|押韵|对联|绝句|律诗|诗歌|藏头诗|谜语|笑话|绕口令|错别字|被动语态|主动语态|病句"
    r"|拼音|部首|成语"
    r"|是?什么意思|怎么(?:区分|读|念|写(?=[？?]))|的?区别(?:是|在)|简述|(?:解释|介绍|科普)一下(?!我)|首都|人口有|沸点"
    r"|熔点|光速|公式|定律|定理|原理是|进制"
    r"|(?:哪一?年|什么时候|何时)(?:发生|建立|成立|爆发|灭亡|修建|发明|开始的|结束的)|(?:建立|成立|爆发|灭亡|修建"
    r"|发明)(?:于|的|在)?(?:哪一?年|什么时候|何时)"
    r"|是谁(?:写|画|发明|发现|提出|建)|(?:发生|建立)在什么时候|为什么(?:会|有|是)?.{0,4}(?:天空|月亮|太阳|星星|海水|彩虹"
    r"|地球|猫|狗|鸟|树叶)"
    r"|(?:冒泡|快速|插入|归并)排序|正则|算法|代码实现|(?:用|写).{0,6}(?:Python|Java|SQL|函数|程序|脚本)",
    2,
)
"""What has the same answer for everybody."""
_LIFE = regex(
    r"\b(?:plan|schedule|timetable|itinerary|packing|shopping list|budget|invit(?:e|ation)|rehearse|errands?|find (?:a"
    r"|me a|us a) (?:time|slot|gift|present)"
    r"|present for|gift for|book (?:a|me|us|the)|weekend away|meal plan|workout|training|dinner|supper|birthday"
    r"|anniversary|get me ready)\b"
    r"|安排|规划|策划|攻略|行程|行李|预订|订一?[家个张]|送礼|礼物|请假|清单|预算|锻炼|训练表|食谱|三餐|采购|首付|年终奖"
    r"|生日|纪念日|打理|复习卷|睡懒?觉",
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
_ONE_THING = regex(
    r"[?？][\"'”’」』)）\s]*$|^\W*(?:(?:and|so|but|please|hey|hi)[, ]+)*(?:what|when|where|who|whom|whose|which|why|how"
    r"|did|does|do|is|are|was|were"
    r"|has|have|had|can|could|will|would|should|am)\b|什么|哪|谁|怎么|怎样|如何|为什么|几[个次种岁点]|多少|多久|是不是"
    r"|有没有|吗|呢",
    2,
)
"""A question; an order ("plan a dinner") may use all that is known."""
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
    """`unsure`: only the owner's memories can tell, by how near the best of them is."""
    continues: bool
    """It goes on from the turns before it."""
    refers_back: bool
    """It names an earlier conversation."""
    several: bool
    """It asks for several things, an order or a total: the whole budget may be used."""


def read_message(text: str, before: Sequence[str] = (), names: Collection[str] = ()) -> MessageRead:
    """Read a message; `before`: the texts of the turns before it, `names`: names that the owner's memories hold, in lower case."""
    ask = without_payload(text)
    plan = asked_parts(ask)
    several = plan.many or plan.ordered or len(plan.parts) > 1 or _ONE_THING.search(ask) is None
    continues = bool(before) and (_CONTINUES.search(ask.strip()) is not None or len(words(ask)) <= SHORT_WORDS)
    back = _BACK.search(ask) is not None
    if not says_something(ask) and not (continues and asks(ask)):
        return MessageRead(ask, "no", continues, back, several)
    plain = _FAVOUR.sub(" ", ask)
    need: Need = "unsure"
    if back or continues or any(pattern.search(plain) for pattern in (_SPEAKER, _LIFE)) or _named(ask, names):
        need = "yes"
    elif _GENERAL.search(ask) is not None:
        need = "no"
    return MessageRead(ask, need, continues, back, several)


def decided(message: MessageRead, related: Related, nearness: float | None) -> MessageRead:
    """The message with the decision whether it needs memory; `nearness`: of `projections.embedding.idle`, None without vectors."""
    if related != "auto":
        return message._replace(need="yes" if related == "always" else "no")
    if message.need != "unsure" or nearness is None:
        return message
    return message._replace(need="no" if nearness < NEAR else "unsure" if nearness < SURE else "yes")


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
    if not names:
        return False
    folded = ask.casefold()
    said = set(_WORD.findall(folded))
    return any(name in said or (name in folded and not name.isascii()) for name in names)
