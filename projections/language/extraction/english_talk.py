"""Shapes of English free talk, tried between those of `english_shapes` and `english_aspects`.

What one is at, what one keeps doing, what does one good, what one has as one's own, and what stands
behind *is my*: each with a subject of its own, and needing words that mean something as every rule does.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_aspects import THOUGHT
from engramlog_server.projections.language.extraction.english_shapes import ADVERB, FAVOURITE, INNER_NOW, OFTEN, PAST
from engramlog_server.projections.language.extraction.english_words import DAY, pets
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH

OF_THE_HOUR = (
    "heading|leaving|sending|sharing|attaching|pasting|texting|calling|typing|referring|showing|telling|writing|reading|taking"
    "|standing|celebrating|experimenting|staying|figuring|processing|searching|coming|bringing|calculating|using|working|targeting|focusing|running|implementing|building|testing|creating|adding"
    "|encountering|finding|applying|setting|managing|dating|studying|learning|giving|putting|making|keeping|becoming"
    "|surrounding|rooting|cheering|crossing|counting|betting|requesting|updating|editing|developing|collaborating|sticking with"
    "|quoting|roleplaying|role-playing|pretending|imagining|losing my mind|playing an?|joking|kidding|lying|dying"
)
"""What one is at for an hour, or at a task, and what rules before these read."""
_MINE = (
    "goal|budget|target|limit|routine|habit|preference|experience|role|job|position|degree|subscription|membership|commute|allergy"
    "|appointment|interview|internship|scholarship|salary|contract|deadline|collection|lease|loan|mortgage|appraisal|appointments"
    "|interviews"
)
"""What one may have as one's own, and what is of somebody."""
OWN = (
    rf"(?:(?!(?:to|the|an?|my|our|of|and|or)\b)[\w$£€%,-]{{1,20}} ){{0,4}}?(?:{_MINE}) (?:(?:of|for|as|at|from|with|to"
    r"|in|on) |(?<=experience )(?=[a-z]+ing\b))"
)
_LIKED = "passion|hobby|hobbies|weakness|obsession|specialty|happy place|comfort food|guilty pleasure|escape|go-to \\w+"
_NO_ROLE = (
    "bit|little|lot|fan|couple|believer|loss|mess|victim|beginner|newbie|stranger|sucker|person|guest|point|crossroads|way|place"
    "|state|hurry|rush|mood|position|phase|kind|sort|few|bunch|good|great|bad|big|huge|firm|part|human|friend|novice|character|npc|NPC|level|avatar"
)

NOBODY = (
    "I|God|Jesus|Christ|Allah|Coffee|Tea|Wine|Beer|Chocolate|Food|Music|Nature|Work|Sleep|Time|Money|Karma|Death|Pain|Silence|Fear"
    "|Earth|America|Netflix|Google|YouTube|Amazon|Claude|Siri|Alexa|Technology|Life|Love|Everyone|Everybody|Nobody|Someone|One"
    "|Another|Mine|Who|Which|What|Where|This|That|Today|Tomorrow|Anxiety|Depression"
)
"""Who is nobody's boss or best friend but in jest, or is no name."""
_NOT_SAID = (
    r"(?!(?:\S+ ){0,8}?(?:says?|said|told|tells?|thinks?|thought|believes?|claims?|claimed|swears?|hopes?|hoped|wish\w*"
    r"|knows?|feels?|felt|used to|supposedly|allegedly|apparently|wrote|asks?|asked|reckons?|insists?|suggests?"
    r"|not|no|never|nobody|nothing|none|hardly|barely|if|whether|\w+n't)\b)"
)
"""Neither denied nor somebody else's words."""
NO_POINTER = (
    rf"^(?P<object>{_NOT_SAID}(?!(?:please|can|could|it|that|this|these|those|he|she|they|you|your|there|what|who|which|how|something|everything|someone"
    r"|nothing|knowing|seeing|hearing|here|their|his|her|our|all|so|one|the|and|or|but|i|we|as|if|when|hope\w*|wish\w*|maybe)\b)"
)
"""Where a sentence begins with a thing or a doing, not with a word that points."""
AT_IT = 0.63
"""Confidence of what one is at, which is a task where its sentence goes on to ask for help with it."""

RULES: tuple[ExtractionRule, ...] = (
    ExtractionRule(
        r"^I have (?:an? )?(?P<object>(?!no\b)(?:[\w$£€%,-]{1,20} ){0,4}?preference for .+)$",
        "stable_preference", "user_preference", 0.7),
    ExtractionRule(
        r"^I have (?:an? )?(?P<object>(?!no\b)(?:[\w$£€%,-]{1,20} ){0,4}?(?:goal|budget|target|limit|deadline"
        r"|appointments?|interviews?) (?:of|for|as|at|from|with|to|in|on) .+)$",
        "temporary", "plan", 0.7, sharp=True),
    ExtractionRule(
        rf"^My (?:{_LIKED}) (?:is|are) (?P<object>.+)$", "stable_preference", "user_preference", 0.75, loose=True),
    ExtractionRule(
        r"^I count (?P<object>.+) among my favou?rites?(?: [\w -]{2,30})?$",
        "stable_preference", "user_preference", 0.8, "likes", loose=True),
    ExtractionRule(
        rf"^We {ADVERB}(?:all |both |really )?(?:love|enjoy|prefer) (?P<object>.+)$",
        "stable_preference", "user_preference", 0.7),
    ExtractionRule(
        rf"^We(?:'re| are) {ADVERB}(?P<object>(?!(?:{INNER_NOW})\b)\w+ing (?!.*\b(?:snow|rain|showers?|storms?|frost"
        rf"|heat\w*|sunshine|hail|fog|sleet|blizzard|hurricane|weather)\b).*(?:{DAY}|\b[A-Z][a-z]).*)$",
        "temporary", "plan", 0.65, loose=True),
    ExtractionRule(
        r"^I(?:'m| am) (?:(?:currently|now) )?based in (?P<object>[A-Z].+)$", "identity", "fact", 0.8, loose=True),
    ExtractionRule(
        r"^I (?:always )?(?:prioriti[sz]e|favou?r) (?P<object>.+)$", "stable_preference", "user_preference", 0.7),
    ExtractionRule(
        r"^I (?P<object>(?:(?:usually|often|sometimes|occasionally|rarely|regularly|typically|frequently) "
        rf"(?!(?:{THOUGHT})\b)[a-z]{{3,14}}(?: .+)?|(?!(?:{THOUGHT})\b|{PAST})[a-z]{{3,14}} .*"
        r"(?:occasionally|regularly|frequently|sometimes)))$",
        "stable_preference", "fact", 0.65),
    ExtractionRule(
        rf"^I {ADVERB}(?P<object>do (?!not\b|nothing\b|it\b|this\b|that\b|so\b|my best\b|n't).+ (?:{OFTEN})\b.*)$",
        "stable_preference", "fact", 0.7),
    ExtractionRule(
        r"^(?:I|We) (?:(?:also|just|all|both) )?(?P<object>had (?:such )?(?:an? )?(?:\w+ )?(?:blast|time|fun|experience) "
        r"(?:at|in|on|with|\w+ing)\b.+)$",
        "fact", "fact", 0.65),
    ExtractionRule(
        r"^I(?:'ve| have) been (?:(?:also|just|really|still) )?(?P<object>(?:looking into|getting into"
        r"|getting back into|trying out|exploring|busy \w+ing) .+)$",
        "temporary", "fact", AT_IT),
    ExtractionRule(
        rf"^I(?:'m| am) (?:(?:still|also|currently|now|already) ){{0,2}}"
        rf"(?P<object>(?:(?!(?:{INNER_NOW}|{OF_THE_HOUR})\b)\w+ing|trying out|exploring)\b"
        rf" (?!.*(?:{DAY}|\bby (?:the end of )?(?i:{MONTH})\b)).+)$",
        "temporary", "fact", AT_IT),
    ExtractionRule(
        rf"^I(?:'m| am) gonna (?P<object>(?!be\b|see\b|try\b|check\b|let\b|keep\b|need\b|want\b|have to\b)\w+ .*(?:{DAY}).*)$",
        "temporary", "plan", 0.7, loose=True),
    ExtractionRule(
        rf"^I(?:'m| am) an? (?P<object>(?:(?!(?:{_NO_ROLE})\b)[\w-]+ ){{1,3}}(?:for|at|of|in|on|with) (?:the|an?|my|our|[A-Z]\w+)"
        r"\b.*)$",
        "identity", "fact", 0.7),
    ExtractionRule(
        rf"^My (?P<object>{_NOT_SAID}(?!(?:\S+ ){{0,4}}birthday (?:is|are)\b)(?:[\w'-]+ ){{1,8}}?(?:is|are) (?:(?:now|already) )?"
        rf"(?:(?:scheduled|set|due|planned|booked|coming up) (?:for |on |at |in )?.*(?:{DAY})|(?:on |at |in )?(?:{DAY})).*)$",
        "temporary", "plan", 0.7, loose=True),
    ExtractionRule(
        rf"{NO_POINTER}[A-Za-z](?:[\w'-]{{0,20}} ){{1,4}}?(?:(?:always|really|also|often|just|still) )?(?:(?:helps?"
        rf"|helped) me (?:to )?\w+ \w+"
        r"|(?:calms?|relaxes|relax|energi[sz]es?) me|makes? me (?:happy|feel \w+)|brings? me (?:joy|peace|comfort|happiness)"
        r"|keeps? me (?:healthy|fit|busy|sane|grounded|motivated|going|calm|relaxed|happy)).*)$",
        "stable_preference", "fact", 0.65, loose=True),
    ExtractionRule(
        rf"{NO_POINTER}(?:[\w'\"-]{{1,20}} ){{1,6}}?(?:is|are|has been|have been|has always been|have always been|means?|has|have) "
        r"(?:(?:such )?(?:an? )?(?:\w+ )?part of my (?:life|routine)|(?:so |very |really )?important to me|(?:so much|a"
        r" lot|the world) to me|a lot of (?:significance|meaning) (?:for|to) me|on my (?:bucket|to-do) list).*)$",
        "stable_preference", "fact", 0.65, loose=True),
)  # fmt: skip
"""After those of `english_shapes`, in this order."""
COMPILED = tuple((regex(rule.pattern, re.IGNORECASE if rule.pattern.startswith(NO_POINTER) else 0), rule)
                 for rule in RULES if isinstance(rule.pattern, str))  # fmt: skip
_THING = (
    r"(?P<thing>(?!(?:it|that|this|those|these|they|he|she|you|there|here|what|which|one|i|my|who|we|your|his|her|their|its)\b)"
    r"[\w'\"&. -]{1,50}?)"
)
_SAYS = regex(rf"^(?!{_NOT_SAID}).* my ", re.IGNORECASE)
_MY_FAVOURITE = regex(
    rf"^{_THING}(?:'s| is| are) (?:(?:still|always|also|definitely) ){{0,2}}my (?:all-time |absolute )?"
    rf"(?P<slot>(?:fave|favou?rite) [\w -]{{2,30}}|{_LIKED})$",
    re.IGNORECASE,
)
_AMONG = regex(
    rf"^{_THING}(?:'s| is| are) (?:(?:still|always|also|definitely) ){{0,2}}one of my (?:all-time |absolute )?"
    r"(?P<slot>favou?rites?(?: [\w -]{2,30})?)$",
    re.IGNORECASE,
)
_IS_MINE = regex(
    lambda: (
        rf"^(?!(?:{NOBODY})\b|(?i:{kin.english()})\b)(?P<name>[A-Z][a-z]+)(?:'s| is) my (?P<who>(?:[a-z-]+ )?"
        rf"(?:{kin.english()}|{pets()}|best friend|boss|mentor|neighbou?r|roommate|flatmate|girlfriend|boyfriend|coach))$"
    )
)
_SUCH_A = regex(
    r"(?P<verb>\b(?:met|adopted|found|got|saw|read|reading|watching|made|bought|started|joined|took|had|have|visited|tried) )this "
    r"(?P<what>(?:amazing|awesome|cute|super|really|cool|great|new|nice|adorable|beautiful|lovely|inspiring|interesting|incredible"
    r"|gorgeous|wonderful|fantastic|little|local|charity|fun)\b)"
)
_CALLED = regex(r"^(?:You can|(?:People|Friends|Everyone|Everybody|They)(?: all)?) calls? me (?=[A-Z])")
_OUR = regex(lambda: rf"^[Oo]ur (?=(?:[\w-]+ ){{0,2}}(?:{kin.english()}|{pets()})\b)")


def turned(said: str) -> str:
    """What stands behind *is my* put before it: "Skiing is my passion" as "My passion is skiing"; *our dog* as *my dog*."""
    if _SAYS.match(said) is not None:
        return said
    if (among := _AMONG.match(said)) is not None:
        return f"I count {among['thing']} among my {among['slot']}"
    if (found := _MY_FAVOURITE.match(said)) is not None:
        return f"My {found['slot']} is {found['thing']}"
    if (mine := _IS_MINE.match(said)) is not None:
        return f"My {mine['who']} is called {mine['name']}"
    said = _CALLED.sub("Call me ", said)
    said = _SUCH_A.sub(lambda one: f"{one['verb']}{'an' if one['what'][0] in 'aeiou' else 'a'} {one['what']}", said)
    return _OUR.sub("My ", FAVOURITE.sub(r"My favourite is \g<thing>", said))
