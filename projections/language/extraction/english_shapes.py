"""General shapes of what English says in the first person, tried where no rule with a class of its own fits.

The subject is I, *my* and one of one's people, or *my* and a thing; the verb is finite; the class follows from tense and form: what
was done is a fact, what is being done is passing, what is done each time is a habit, whom one has and what they do is a fact.
Verbs of thinking, feeling and saying state nothing that lasts.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_words import pets
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH, WEEKDAY

_IRREGULAR = (
    "became|began|bent|bet|bit|blew|bought|broke|brought|built|burnt|came|caught|chose|cut|dealt|did|drank|drew|drove"
    "|dug|fed|fell|flew|fought|found|froze|gave|got|grew|held|hid|hit|hung|hurt|laid|led|left|lent|lit|lost|made"
    "|met|paid|put|quit|ran|read|rode|rose|sang|sat|saw|sent|set|shook|shot|slept|slid|sold|sought|spent|split|spread"
    "|stood|stole|swam|swore|swung|taught|tore|took|went|woke|won|wore|wrote"
)
_IRREGULAR_DONE = (
    "become|begun|bought|broken|brought|built|caught|chosen|come (?!up)|cut|dealt|done|drawn|driven|drunk|eaten|fallen|flown"
    "|fought|found|given|gone|gotten|grown|held|hit|hurt|laid|led|left|lent|lost|made|met|moved|paid|put|quit"
    "|read|ridden|run|sent|set|sold|spent|spoken|sung|swum|taken|taught|torn|won|worn|written"
)
_INNER = (
    "adored|admitted|agreed|appreciated|asked|assumed|believed|called|claimed|concluded|cried|dreamed|enjoyed|expected"
    "|explained|feared|figured|guessed|hated|hoped|imagined|intended|liked|loved|looked|managed|mentioned|missed|need"
    "|needed|noticed|preferred|proceed|promised|realised|realized|recalled|regretted|remembered|replied|seemed|smiled"
    "|speed|succeed|supposed|suspected|talked|used|wanted|wished|wondered|worried|feed|indeed|exceed|tried|laughed"
    "|named|provided|requested|demanded|instructed|clarified|specified|established"
    "|turned|stopped|learned|struggled"
    "|turned out|stayed|got (?:it|so|the)|held (?:on|up)"
    r"|left (?:it|off)|put (?:it|up)|came (?:up|out|over|across|to)|took (?:it|up)|made (?:it|sure|me)|found (?:it|out|that|myself)"
)
PAST = rf"(?!(?:{_INNER})\b)(?:\w{{2,16}}ed|(?:re|over)?(?:{_IRREGULAR}))\b"
"""A verb in the past, of any kind that can be seen from outside."""
DONE = rf"(?!(?:{_INNER}|been)\b)(?:\w{{2,16}}ed|{_IRREGULAR_DONE})\b"
"""The participle of such a verb."""
INNER_NOW = (
    "thinking|wondering|hoping|feeling|looking|asking|talking|trying|getting|having|being|going|gonna|doing|saying|guessing"
    "|assuming|struggling|worrying|considering|curious|aiming|planning|wanting|needing|facing|experiencing|seeing|sure"
    "|debating|deciding|leaning|dealing|liking|loving|enjoying|hearing|kidding|joking|starting|missing|sitting|waiting|noticing"
    "|freaking|stressing|seeking|trying|exploring|interested|aware|running into"
)
OFTEN = (
    "(?:every|each) (?:other )?(?:single )?(?:day|night|week|weekend|month|year|morning|evening|afternoon|summer|winter"
    f"|spring|autumn|fall|season|time|{WEEKDAY})|once a|twice a|(?:two|three|four|five|\\d+) times a"
    f"|on (?:weekends|weekdays|(?:{WEEKDAY})s)|daily|weekly|monthly|before bed|all the time|(?:during|over|around) the"
    f" holidays|most (?:days|mornings|evenings)"
)
_TIME_WORDS = rf"(?:day|night|week|weekend|month|year|morning|evening|afternoon|summer|winter|spring|autumn|fall|{MONTH}|{WEEKDAY})"
LEADING_TIME = regex(
    rf"(?:(?:and|but|so|also|just) )?(?P<time>(?:as of |since )?(?:yesterday|today|tonight|earlier|(?:early |late "
    rf"|mid-?)?(?:last|this|the"
    rf" other|every|each|most|on|in|back in"
    rf"|over the|one|over|during) (?:\w+ ){{0,2}}?{_TIME_WORDS}s?|(?:a|an|one|two|three|four|five|six|\d{{1,2}}"
    rf"|a few|a couple of|several) (?:\w+ )?{_TIME_WORDS}s?"
    rf" ago|(?:back )?in (?:19|20)\d\d|on (?:{MONTH}) \d{{1,2}}(?:st|nd|rd|th)?"
    rf"|(?:on )?(?:{WEEKDAY})s?(?: (?:morning|evening|afternoon|night)s?)?|(?:morning|evening|weekend|weekday)s|at (?:work"
    rf"|home|school"
    r"|night|uni|university|(?:the|my) office)|in (?:my|our) (?:family|house|home|flat|team|office|company|household)"
    r"|(?:in|during) my (?:free|spare|down) ?time|as a (?:kid|child|teen(?:ager)?)|growing up|when I was (?:\d{1,2}"
    r"|young(?:er)?|little|an? (?:kid|child|teen(?:ager)?)|in (?:school|college|high school|university)))"
    r"(?: (?:morning|evening|afternoon|night|week|ago))?),? (?=(?:I|I've|I'm|[Mm]y|we|we've|we're)\b)",
    re.IGNORECASE,
)
"""A time that stands before the subject: "Last month I moved"."""
TIMED = regex(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|this|next|every|each|past) (?:\w+ )?(?:{_TIME_WORDS}|time)"
    r"|for the first time)\b",
    re.IGNORECASE,
)
"""Words that say when, or how often."""
PEOPLE = (
    "friends?|best friend|close friend|colleagues?|co-?workers?|boss|manager|teacher|mentor|neighbou?rs?|roommates?|flatmates?"
    "|team|teammates|classmates?|housemates?|doctor|landlord|landlady|cleaner|nanny|childminder|tutor|coach|trainer|ex|cofounder|co-founder"
    "|family members?|assistant|advis[eo]r"
    "|professor|supervisor|girlfriend|boyfriend"
)
ADVERB = r"(?:(?:also|just|already|once|even|first|always|often|still|now|never|(?!family|only|early)\w+ly) ){0,4}"
"""Each adverb fits in one way only, and four are enough: else such a piece takes time without bound."""
_NAME = r"(?:,? (?:[A-Z]\w+)(?: [A-Z]\w+)?)?"
FAVOURITE = regex(
    r"^(?P<thing>(?!(?:it|that|this|those|these|they|he|she|you|there|here|what|which|one|i|my|who|we)\b)[\w'& -]{1,40}?)"
    r"(?:'s| is| are| has always been| have always been) (?:still |always )?my (?:all-time |absolute )?(?:fave|favou?rite)s?$",
    re.IGNORECASE,
)
"""A favourite that stands before it: "Blue is my favourite"."""
_ASIDE = r"(?:, (?:who|whom|whose|an?|my|aged|\d)(?:'s)? [^,]{1,50},|, \d{1,3},|,| (?:from|at) (?:\w+ ){0,3}\w+)?"
_NOT_SAYING = (
    r"(?!(?:always|is|was|has|does|says|thinks|knows|seems|looks|feels|means|wants|needs|gets|makes|keeps|hopes|told|said|thought|asked"
    r"|helps|sounds|comes|goes|tends|takes|gives|shows|brings|puts|turns)\b)"
)


_LOST_ITS_OBJECT = (
    r"(?:completed|discussed|received|selected|mentioned|bought|chose) (?:by|after|before|during|on|at|in)\b"
)
"""The end of a clause about something that was named before it: "the goal that I discussed after the panel"."""


def one_of_mine() -> str:
    """One of one's people or animals, with up to two words before it."""
    return rf"(?:[\w-]+ ){{0,2}}(?:{kin.english()}|{pets()}|{PEOPLE})\b"


RULES: tuple[ExtractionRule, ...] = (
    ExtractionRule(
        r"^I(?:'ve| have) (?:always|long|been) (?:wanted|wanting|dreamed of|dreamt of|wished|meaning) (?:to )?(?P<object>.+)$",
        "short_term_preference", "plan", 0.65, loose=True),
    ExtractionRule(
        r"^I(?:'m| am) (?:such )?an? (?P<object>(?!(?:(?:huge|big|total|real|massive|super|great) )*(?:fan|lover|nerd|geek)$)"
        r"(?:[\w-]+ ){0,3}(?:fan|lover|enthusiast|buff|nerd|addict|fanatic|junkie|geek))\b(?P<of>(?: of .+)?)$",
        "stable_preference", "user_preference", 0.8, "is", loose=True),
    ExtractionRule(
        r"^My favou?rite is (?P<object>.+)$",
        "stable_preference", "user_preference", 0.85, "likes", loose=True),
    ExtractionRule(
        rf"^I (?!'|am|was|have|had|will|would|can|could|need|want|think|feel|know|see|mean|got|did|do\b|don't){ADVERB}"
        rf"(?P<object>(?!{PAST}|\w+ed\b)[a-z]+ .*\b(?:{OFTEN})\b.*)$",
        "stable_preference", "fact", 0.7, loose=True),
    ExtractionRule(
        rf"^I(?:'ve| have) been {ADVERB}(?P<object>(?!(?:{INNER_NOW})\b)\w+ing "
        r"(?=.*(?:\bsince\b|\bfor (?:\d|an? |the (?:last|past)|one|two|three|four|five|six|over|about|almost"
        r"|several|many|years|months|ages)|\bwith (?:\w+ ){0,3}[A-Z]|\b(?:every|each|daily|weekly)\b)).+)$",
        "fact", "fact", 0.7, sharp=True),
    ExtractionRule(
        lambda: (
            rf"^My (?P<who>{one_of_mine()}{_NAME}{_ASIDE}) (?:and I )?{ADVERB}"
            rf"(?P<object>(?:{PAST}|{_NOT_SAYING}[a-z]{{2,15}}s\b|(?:is|are|was|were) (?:an? [\w-]+|from [\w-]+|\d+|called"
            rf" [\w-]+|named [\w-]+|allergic \w+"
            r"|(?:pregnant|married|divorced|widowed|retired|engaged|single|vegan|vegetarian|deaf|blind|diabetic)\b"
            r"|(?:[a-z]+ )?[a-z]+ing\b)|had (?:an? |to |surgery\b|\d)|has (?:an? |two |three |\w+ed )|have (?:an? |two )"
            r"|speaks?|live|work|love|like|passed away|died|can )(?: .+)?|passed away|died)$"
        ),
        "fact", "fact", 0.7, loose=True),
    ExtractionRule(
        rf"^My (?P<object>(?!(?:character|hero|heroine|avatar|protagonist|narrator|villain|main|biggest|next|only|first|last"
        rf"|question|goal|problem|issue|code|app|understanding"
        rf"|score|result|current|original|draft)\b)(?:new |old )?[\w-]+(?:,[^,]{{1,40}},)? {ADVERB}{PAST}.*)$",
        "fact", "fact", 0.65, sharp=True),
    ExtractionRule(
        rf"^I {ADVERB}(?P<object>(?!got to\b|{_LOST_ITS_OBJECT}){PAST} .+)$", "fact", "fact", 0.65, sharp=True),
)  # fmt: skip
"""After those of `english_rules`, in this order."""
COMPILED = tuple((regex(rule.pattern), rule) for rule in RULES)
