"""Questions and tasks with the same answer for everybody: translation, arithmetic, definitions, code. English and Chinese. Pure."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex

GENERAL_KNOWLEDGE = regex(
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
