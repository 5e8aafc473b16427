"""The ways in which English states something in the first person: one rule each, tried in order. Word lists, no model.

First come rules with a class of their own (`_TYPED`). Then general shapes (`_GENERAL`): the subject is I, *my* and one of one's
people, or *my* and a thing; the verb is finite; the class follows from tense and form. What was done is a fact, what is being
done is passing, what is done each time is a habit, whom one has and what they do is a fact. Verbs of thinking, feeling and saying
state nothing that lasts. Then free talk (`_TALK`): what one is at, what one keeps doing, what does one good. Then what was going
on, what one had to do, what one did with others (`_FURTHER`), which needs a name, a number or a time beside it unless one is
learning it.

A clause must stand by itself (`is_whole`): it names what it is about, points at nothing outside and says something in particular.
`third_person` says it about a person by name: "I love my dog" becomes "Ann loves their dog".
"""

from __future__ import annotations

import re
from functools import cache

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.calendar import MONTH, MONTHS, WEEKDAY, WEEKDAYS

_WHEN = "(?:(?:recently|already|currently|always|usually|often|sometimes|still|now|first|once|normally|generally|officially) )?"
_NOUN = r"(?:an? |the |two |three |four |five |\d+ |some |my |our )?"
_DONE = (
    "(?:went|visited|met|bought|adopted|joined|started|began|finished|completed|got|won|painted|made|built"
    "|read|watched|signed up|moved"
    "|graduated|quit|took|attended|ran|volunteered|lost|broke|published|launched|received|learned|learnt"
    "|passed|played|performed|wrote"
    "|hosted|organized|organised|booked|scheduled|enrolled|registered|applied|hired|sold|donated|traveled"
    "|travelled|hiked|climbed|baked"
    "|cooked|tried|set up|hit|raised|earned|created|designed|declined|agreed|accepted|reduced|increased"
    "|extended|submitted|reached|saved"
    "|borrowed|downloaded|upgraded|implemented|deployed|added|fixed|spent|saw|gave|found|won|celebrated"
    "|planted|injured|hurt|sprained"
    "|had|used|changed|updated|removed|tested|set|planned|estimated|allocated|paid|invested|drove|flew"
    "|ordered|interviewed|presented"
    "|recorded|directed|edited|filed|drafted|revised|negotiated|postponed|canceled|cancelled|rescheduled"
    "|renewed|committed|trained)"
)
DAY = (
    rf"(?i:(?:{MONTH})\.? \d|\b\d{{1,2}}(?::\d\d)? ?[ap]m\b|\b(?:next|this|on|by) (?:{WEEKDAY})|\bon the \d{{1,2}}(?:st|nd"
    rf"|rd|th)\b|\btomorrow"
    r"|\btonight|next (?:week|month|year|weekend|summer|spring|fall|winter)|this (?:weekend|week|month|summer"
    "|winter|fall|spring|year))"
)

DOCTORS = r"doctor|gp|GP|physio\w*|dentist|vet|nurse|optician|therapist|midwife|surgeon|consultant|\w+ologist"


@cache
def pets() -> str:
    """Animals that one keeps, as alternatives."""
    return f"(?:{either(words('pets', 'english'))})"


@cache
def workers() -> str:
    """What somebody is by work or by standing, as alternatives."""
    return rf"(?:\w+(?:ist|ian|ologist|eer|man|woman)|{either(words('jobs', 'english'))})"


_TYPED: tuple[ExtractionRule, ...] = (
    ExtractionRule(
        r"^(?:My (?:first |full )?name(?: is|'s)|I'm called|I am called|I go by|Call me)"
        r" (?P<object>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})$",
        "identity", "fact", 0.9, "is called", loose=True),
    ExtractionRule(
        r"^I(?:'m| am) (?P<object>\d{1,3})(?: years? old)?(?=$|,| and\b)|^I(?: just)? turned (?P<object2>\d{1,3})\b",
        "identity", "fact", 0.85, "is aged", loose=True),
    ExtractionRule(
        rf"^(?:I was born (?:in|on)|My birthday(?:'s| is)(?: on| in)?(?=.*(?i:\d|{MONTH}))) (?P<object>.+)$",
        "identity", "fact", 0.9, "was born", loose=True),
    ExtractionRule(
        "^(?:I'm|I am|I come|I hail) (?:originally )?from (?P<object>[A-Z].+)$",
        "identity", "fact", 0.85, "is from", loose=True),
    ExtractionRule(
        "^I (?:currently )?(?:live|reside) in (?P<object>.+)$|^I(?:'m| am)(?: currently)? living in (?P<object2>.+)$",
        "identity", "fact", 0.85, "lives in", loose=True),
    ExtractionRule(
        r"^I(?:'ve)? (?:have )?(?:recently |just )?(?:moved|relocated) (?:back )?to (?P<object>(?!do\b|be\b)"
        "[A-Z].+)$",
        "identity", "fact", 0.85, "lives in", loose=True),
    ExtractionRule("^I grew up (?:in|on|with) (?P<object>.+)$", "identity", "fact", 0.85, "grew up in", loose=True),
    ExtractionRule(
        "^(?:I (?:currently )?work|I(?:'m| am)(?: currently)? (?:working|employed)) as (?P<object>an? .+)$",
        "identity", "fact", 0.85, "works", loose=True),
    ExtractionRule(
        "^(?:I (?:currently )?work|I(?:'m| am)(?: currently)? working|I(?:'m| am) employed) (?:as|at|for) (?P<object>.+)$",
        "identity", "fact", 0.85, "works"),
    ExtractionRule(
        lambda: rf"^I(?:'m| am) (?:a|an) (?P<object>(?:[\w-]+ ){{0,3}}(?:\d+-year-old )?(?:[\w-]+ ){{0,2}}{workers()})\b.*$",
        "identity", "fact", 0.8, "is", loose=True),
    ExtractionRule(
        r"^I(?:'m| am) (?:happily )?married to (?P<object>(?:[A-Z]|an? )[\w .'-]+)$",
        "identity", "fact", 0.85, "is married to", loose=True),
    ExtractionRule(
        r"^I own (?P<object>(?:an? |two |three |four |five |\d+ |my own )[\w .'-]+)$",
        "fact", "fact", 0.8, "owns", loose=True),
    ExtractionRule(
        "^I(?:'m studying| am studying| study| major in|'m majoring in| am majoring in) "
        r"(?P<object>(?!for|with|at|in|on|to|hard|a lot|every)[\w .'&-]+)$",
        "identity", "fact", 0.8, "studies", loose=True),
    ExtractionRule(
        "^I (?P<often>always|usually|often|sometimes|rarely|never) (?:drink|eat|play|wear|cook|read|watch) "
        r"(?P<object>(?!well|out|with|alone|together|at|in|on|for|about)[\w .'-]+)$",
        "stable_preference", "fact", 0.75, loose=True),
    ExtractionRule(
        "^I(?:'m| am) (?P<object>married|divorced|single|engaged|widowed|pregnant|retired|vegetarian|vegan"
        r"|bilingual|left-handed|diabetic|gay|bisexual|transgender|lactose intolerant|colorblind)\b.*$",
        "identity", "fact", 0.85, "is", loose=True),
    ExtractionRule(
        "^I(?:'m| am) allergic to (?P<object>.+)$|^I have an allergy to (?P<object2>.+)$",
        "identity", "fact", 0.9, "is allergic to", loose=True),
    ExtractionRule(
        "^I(?:'ve| have| was)? (?:been )?diagnosed with (?P<object>.+)$|^I (?:have|suffer from) (?P<object2>"
        r"(?:severe |mild |chronic |type \d )?(?:asthma|diabetes|arthritis|migraines?|insomnia|anxiety|depression"
        "|epilepsy|gastritis|adhd|anemia|celiac disease).*)$",
        "identity", "fact", 0.85, "has", loose=True),
    ExtractionRule(
        lambda: rf"^(?:I have|I've got|I've) (?P<object>(?!no ){_NOUN}(?:[\w-]+ )?{kin.english()}\b.*)$",
        "identity", "fact", 0.85, "has", loose=True),
    ExtractionRule(
        lambda: rf"^(?:I (?:already |still |also |now )?have|I've (?:already )?got|I own|I've) (?P<object>(?!no"
        rf" ){_NOUN}(?:[\w-]+ ){{0,2}}{pets()}\b.*)$",
        "fact", "fact", 0.85, "has", loose=True),
    ExtractionRule(
        r"^My (?:all-time |absolute |new |old )?favou?rite (?P<slot>[\w -]{2,40}?) (?:is|are|was|has to be"
        "|would be|has always been) (?P<object>.+)$",
        "stable_preference", "user_preference", 0.85, "favourite", loose=True),
    ExtractionRule(
        "^I(?:'m| am) (?:a )?(?:huge |big |massive |real )?(?:fan of|into|passionate about|fond of|obsessed with"
        "|crazy about|keen on|a lover of) (?P<object>.+)$",
        "stable_preference", "user_preference", 0.8, "likes", loose=True),
    ExtractionRule(
        r"^I(?:'m| am) (?:not (?:really |particularly |very |too |that )?(?:an? )?(?:(?:huge|big|great|massive|real) )?"
        r"(?:fan of|into|fond of|crazy about|keen on)|no (?:great |big )?fan of) (?P<object>.+)$"
        r"|^I don't (?:really |much |particularly )?care (?:much )?for (?P<object2>.+)$",
        "stable_preference", "user_preference", 0.8, "likes", True, loose=True),
    ExtractionRule(
        "^I (?:no longer|don't) (?:like|love|enjoy|drink|eat|play|watch|smoke|use) (?P<object>.+?)(?: any ?more| any longer)?$",
        "stable_preference", "user_preference", 0.85, "likes", True, loose=True),
    ExtractionRule(
        "^I (?:hate|dislike|can't stand|can not stand|cannot stand|detest|loathe) (?P<object>.+)$",
        "stable_preference", "user_preference", 0.85, "likes", True, loose=True),
    ExtractionRule(
        f"^I {_WHEN}(?:love|like|enjoy|adore) (?P<object>.+)$",
        "stable_preference", "user_preference", 0.8, "likes", loose=True),
    ExtractionRule(f"^I {_WHEN}prefer (?P<object>.+)$", "stable_preference", "user_preference", 0.85, "prefers", loose=True),
    ExtractionRule(
        r"^I used to (?P<object>(?:love|like|play|live|work|be|go|have|own|collect|compete|do)\b.+)$",
        "fact", "fact", 0.75, loose=True),
    ExtractionRule(
        r"^I (?:speak|can speak|am fluent in) (?P<object>[A-Z]\w+.*)$|^I(?:'m| am) fluent in (?P<object2>[A-Z]\w+.*)$",
        "skill", "fact", 0.85, "speaks", loose=True),
    ExtractionRule(
        "^I (?:can|know how to) (?P<object>(?:play|cook|swim|drive|code|program|sing|draw|paint|dance|ski|surf"
        r"|sew|knit|speak|bake|juggle|type|write)\b.*)$|^I(?:'m| am) (?:good|great|skilled|proficient|experienced)"
        " (?:at|in|with) (?P<object2>.+)$",
        "skill", "fact", 0.8, "can"),
    ExtractionRule(
        "^I(?:'ve| have) (?:been )?(?P<object>(?:playing|practicing|studying|learning|doing|working|coding"
        r"|painting|writing|running|surfing|training|teaching|cooking|into \w+) .*\b(?:for|since) .*(?:years?"
        r"|months?|weeks?|decades?|ages|\d{4}|childhood).*)$",
        "skill", "fact", 0.8),
    ExtractionRule(
        "^I play (?P<object>(?:the )?(?:guitar|piano|violin|clarinet|drums|flute|cello|bass|saxophone|ukulele"
        r"|basketball|soccer|football|tennis|chess|golf|hockey|baseball|volleyball|badminton)\b.*)$",
        "skill", "fact", 0.85, "plays", loose=True),
    ExtractionRule(
        "^I(?:'ve| have)? (?:recently |just |also |already )?(?:decided|chosen|opted|resolved) (?P<object>(?:to"
        "|on|against|not to|for) .+)$|^I (?:chose|picked|settled on|went with|opted for|switched (?:from|to)) (?P<object2>.+)$",
        "fact", "decision", 0.8),
    ExtractionRule(
        "^I(?:'m| am) (?:also |currently )?(?:planning|scheduled|set|due|going|gonna|aiming|targeting|preparing"
        r"|training|saving up|saving) (?P<object>(?:to|on|for|a|an) (?!be\b).+)$|^I (?:also )?(?:plan|intend|aim)"
        " to (?P<object2>.+)$",
        "temporary", "plan", 0.75),
    ExtractionRule(
        rf"^(?:I have|I've got) (?P<object>(?:an? |my |the )?(?:[\w-]+ ){{0,3}}(?:appointment|meeting|exam"
        r"|interview|trip|flight|game|match|concert|test|wedding|race|tournament|session|presentation|surgery)\b.*"
        f"(?:{DAY}).*)$",
        "temporary", "plan", 0.8, loose=True),
    ExtractionRule(
        "^I(?:'m| am) (?:also )?(?P<object>(?!starting to (?:feel|think|reali[sz]e|worry|wonder|get|see) )"
        "(?:starting|meeting|visiting|traveling|travelling|flying|attending"
        f"|moving|hosting|joining|taking|having|going|heading|leaving|playing|running|performing) .*(?:{DAY}).*)$"
        rf"|^I(?:'ll| will)(?: be)? (?P<object2>(?:\w+) .*(?:{DAY}).*)$",
        "temporary", "plan", 0.7),
    ExtractionRule(
        f"^I(?:'m| am) (?:currently )?trying to (?P<object>(?!calculate|solve|compute|prove|verify|evaluate"
        "|convert|understand|figure|find|decide|see|know|get|wrap|come|think|make sense|be|stay|keep|remember"
        rf"|determine)\w+ .*(?:{DAY}|\bby (?:\w+ )?\$?\d|\bfrom \$?\d[\d,.]* to|\$\d|\b\d[\d,]* (?:steps|hours|miles"
        rf"|pages|kilos|pounds)).*)$|^I want to (?P<object2>(?!use|utili[sz]e|enable|return|implement|create|add|handle"
        rf"|integrate|optimi[sz]e|choose|prioriti[sz]e|display|store|test|know|understand|see|make sure|ensure|be|get"
        r"|keep|say|ask|find|share|thank|help|hear)\w+ .*(?:\d|[A-Z]).*)$",
        "temporary", "plan", 0.6),
    ExtractionRule(
        "^My (?P<object>(?:main |biggest |next |long-term |ultimate )?(?:goal|dream|aim|target|deadline|budget"
        r"|interview|exam|flight|appointment|wedding|due date)(?: \w+){0,5} (?:is|are)(?: set)?(?: for| on"
        "| to)? .+)$",
        "temporary", "plan", 0.75),
    ExtractionRule(
        r"^I (?:can't|can not|cannot|don't) (?:do|eat|drink|tolerate|digest|stomach) "
        r"(?P<object>(?!.*(?i:\b(?:\d|this|that|any(?:thing|more)|much|enough|well|before|after|until|today|tomorrow"
        rf"|tonight|mornings?|{WEEKDAY})\b))(?:[\w'-]+ ){{0,4}}[\w-]+)$",
        "stable_preference", "user_preference", 0.8, "likes", True, loose=True),
    ExtractionRule(
        r"^I(?:'ve| have)? (?:just |recently |already |also )?(?:"
        r"(?:given|gave) up (?:(?!on\b|and\b|\w+ing\b)|(?=smoking|drinking|running|driving|gambling|vaping))"
        r"|sold (?=my |our |the )|retired from |dropped out of |quit (?=my |the ))"
        r"(?P<object>[\w' -]+?)(?: (?:for good|altogether))?$",
        "fact", "fact", 0.75, loose=True),
    ExtractionRule(
        r"^I (?:now |usually |mostly |always )?(?P<object>(?:get (?:about|around)|go to (?:work|school)|travel|commute)"
        r"(?: to \w+)? (?:by|on|with|in) [\w' -]+)$",
        "stable_preference", "fact", 0.75, loose=True),
    ExtractionRule(
        r"^I(?:'ve| have)? (?:just |recently |now )?(?P<object>(?:traded|swapped|exchanged|left|gave up) .+"
        r" (?:for|to (?:be|become)) an? .+)$",
        "fact", "fact", 0.75),
    ExtractionRule(
        r"^I(?:'ve| have) (?:also |recently |already |just |now )?never (?:\w+ )(?P<object>.+)$",
        "fact", "fact", 0.75),
    ExtractionRule(
        r"^I (?:also |recently |just |already |finally |once |actually )*got (?P<object>(?!excited|interested|confused|bored|tired"
        r"|used|started|stuck|inspired|distracted|carried)(?:\w+ed|hurt|sick|laid off|burnt)\b.*)$",
        "fact", "fact", 0.7, loose=True),
    ExtractionRule(
        r"^(?P<when>(?:Yesterday|Today|Last \w+|This (?:morning|week|weekend|month|year)|Two \w+ ago|A "
        r"(?:few )?\w+ ago|On \w+ \d+),? )?I (?:also |recently |already |just |once |successfully |first |even "
        f"|finally )*(?P<object>(?!(?:had|got) to ){_DONE} .+)$",
        "fact", "fact", 0.7),
    ExtractionRule(
        "^I(?:'m| am) (?:currently |also )?(?P<object>(?:reading|studying|learning|writing|taking|majoring in|enrolled in"
        "|dating) .+)$",
        "temporary", "fact", 0.65),
)  # fmt: skip

_IRREGULAR = (
    "became|began|bent|bet|bit|blew|bought|broke|brought|built|burnt|came|caught|chose|cut|dealt|did|drank|drew|drove"
    "|dug|fed|fell|flew|fought|found|froze|gave|got|grew|held|hid|hit|hung|hurt|laid|led|left|lent|lit|lost|made"
    "|met|paid|put|quit|ran|read|rode|rose|sang|sat|saw|sent|set|shook|shot|slept|slid|sold|sought|spent|split|spread"
    "|stood|stole|swam|swore|swung|taught|tore|took|went|woke|won|wore|wrote"
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
INNER_NOW = (
    "thinking|wondering|hoping|feeling|looking|asking|talking|trying|getting|having|being|going|gonna|doing|saying|guessing"
    "|assuming|struggling|worrying|considering|curious|aiming|planning|wanting|needing|facing|experiencing|seeing|sure"
    "|debating|deciding|leaning|dealing|liking|loving|enjoying|hearing|kidding|joking|starting|missing|sitting|waiting|noticing"
    "|freaking|stressing|seeking|trying|exploring|interested|aware|running into"
)
_OFTEN = (
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
_FAVOURITE = regex(
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


_GENERAL: tuple[ExtractionRule, ...] = (
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
        rf"(?P<object>(?!{PAST}|\w+ed\b)[a-z]+ .*\b(?:{_OFTEN})\b.*)$",
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

_TALKED = (
    "talked|spoke|chatted|discussed|agreed|said|decided|settled|caught|covered|mentioned|went (?:over|through|with)|set"
    "|made (?:it|sure)"
    "|landed|invaded|conquered|coloni[sz]ed|bombed|occupied|elected|voted|evolved|scored|defeated|qualified|drew|tied|drafted"
    "|traded|declared|abolished|set foot|(?:beat|won|lost)(?! our| my)"
    "|did (?:it|that)|got (?:it|to)|used|need|found|added|created|tested|implemented|defined|saw|had|fixed|updated|wrote|identified"
    "|outlined|worked|met"
)
_THOUGHT = (
    "was|were|is|are|had|has|did|got|been|need|want|think|feel|know|see|mean|believe|guess|hope|wish|wonder|understand|agree"
    "|remember|recall|hear|appreciate|doubt"
    "|require|request|propose|demand|suppose|expect|imagine|look|seem|get|have|do|can|could|will|would|should|may|might|must|shall|am|find|notice|admire|promise"
    "|thank|bet|swear|care|miss|struggle|try|say|tell|ask|plan|come|realise|realize|love|like|hate|prefer|enjoy|wanna|gotta|never"
    "|recommend|suggest|assume|forget|ensure|figure|totally|really|just|also|only|still|even|always|won't|don't|didn't|haven't"
    "|understood|loved|liked|enjoyed|wanted|felt|thought|knew|meant|hoped|tried|learnt|said|told|heard|now|then|too|so|all"
    "|already|currently|usually|often|sometimes|generally|normally|and|or|but|as|in|on|at|to|for|with|could've|apologi[sz]e"
    "|worry|anticipate|intend|aim|consider|cannot|can't|once|first|dream|urge|invite|present|declare|hereby"
)
DOES = ExtractionRule(
    rf"^I {ADVERB}(?P<object>(?!(?:{_THOUGHT})\b|\w+[^s]s\b|(?:make|earn) [$£€]|keep getting|{PAST}|\w+ed\b|re(?:took|wrote"
    rf"|did|made|sent"
    rf"|set)\b)[a-z]{{2,14}} .+)$", "fact", "fact", 0.6, sharp=True)  # fmt: skip
"""What somebody does, by a verb in the present."""
_FURTHER: tuple[ExtractionRule, ...] = (
    ExtractionRule(
        rf"^I(?:'m| am) (?:currently |also )?(?P<object>(?!(?:{INNER_NOW}|using|working|targeting|focusing"
        rf"|running)\b)\w+ing .*(?:{DAY}|\bby (?:the end of )?(?i:{MONTH})).*)$",
        "temporary", "plan", 0.65, loose=True),
    ExtractionRule(
        r"^I(?:'ve| have)? (?:always |really )?(?:loved|liked|enjoyed|adored|hated) (?P<object>.+ (?:as a (?:kid|child"
        r"|teen\w*|boy|girl)|when I was .+|growing up))$",
        "fact", "fact", 0.7, loose=True),
    ExtractionRule(
        r"^I(?:'ve| have) always (?:loved|liked|enjoyed|adored|been (?:into|fond of|passionate about|a fan of|drawn to)"
        r"|had an? (?:love|passion|thing|soft spot|weakness) for|felt an? (?:strong |deep )?connection (?:to|with))"
        r" (?P<object>.+)$",
        "stable_preference", "user_preference", 0.8, "likes", loose=True),
    ExtractionRule(
        rf"^I(?:'ve| have) been {ADVERB}(?P<object>(?:learning|studying|practi[cs]ing|teaching|training|volunteering|coaching"
        r"|mentoring|tutoring|attending|rehearsing|saving) .+)$",
        "temporary", "fact", 0.7, loose=True),
    ExtractionRule(
        rf"^I {ADVERB}(?:had to|got to|managed to|ended up|was able to) (?P<object>(?!(?:be|get|see|say|know|choose"
        rf"|decide)\b)\w+ .+)$",
        "fact", "fact", 0.65, sharp=True),
    ExtractionRule(
        rf"^I(?: currently| also)?(?: have|'ve(?: also)? got) (?P<object>(?:an upcoming .*(?:{DAY}).*|.+ (?:planned"
        rf"|scheduled|coming up|lined up|booked)"
        r"\b.*(?:\d|[A-Z]).*))$",
        "temporary", "plan", 0.75, loose=True),
    ExtractionRule(r"^I (?:earn|make) (?P<object>(?:\w+ ){0,3}[$£€]\d[\d,.]*[kK]?(?:$|/| (?:an?|per|each|every|as|at|from|in"
        r"|working|by|with"
        r"|before|after|monthly|yearly|annually|hourly)\b).*)$", "identity", "fact", 0.8, loose=True),
    DOES,
    ExtractionRule(
        rf"^We {ADVERB}(?P<object>(?!(?:{_TALKED})\b){PAST} .+)$", "fact", "fact", 0.65, sharp=True),
    ExtractionRule(
        rf"^We(?:'re| are) {ADVERB}(?P<object>(?:planning|going|heading|hosting|having|moving|throwing|taking|organi[sz]ing|meeting"
        rf"|expecting|getting|visiting|flying|leaving|celebrating|inviting)"
        rf" (?!.*\b(?:snow|rain|showers|storms?|thunderstorms?|frost|heat|heatwave|sunshine|hail|fog|sleet|blizzard|hurricane"
        rf"|weather)\b).*(?:{DAY}|[A-Z]).*)$",
        "temporary", "plan", 0.65, loose=True),
    ExtractionRule(
        rf"^We {ADVERB}(?P<object>(?!(?:{_THOUGHT})\b|{PAST}|\w+ed\b)[a-z]{{2,14}} .*\b(?:{_OFTEN})\b.*)$",
        "stable_preference", "fact", 0.65, loose=True),
)  # fmt: skip
_PLAIN_PAST = (
    "Went|Had|Took|Saw|Met|Bought|Spent|Ran|Wrote|Did|Won|Came|Gave|Got|Made|Drove|Flew|Ate|Built|Caught|Taught|Began|Drew|Sold"
    "|Started|Finished|Visited|Joined|Moved|Tried|Signed up|Attended|Watched|Completed|Adopted|Celebrated|Hosted|Learned|Painted"
    "|Signed|Grew up|Played|Cooked|Baked|Hiked|Volunteered"
)
"""Verbs that are seldom anything but a past where they begin a sentence."""
_ELIDED = (
    (
        regex(r"^(?P<verb>Can't|Cannot|Don't) (?=(?:do|eat|drink|tolerate|digest|stomach) \w+(?: \w+){0,2}$)"),
        r"I \g<verb> ",
    ),
    (regex(r"^(?P<verb>Allergic to|Intolerant to) (?=\w)"), r"I'm \g<verb> "),
    (regex(rf"^(?:Just|Finally|Recently) (?={PAST})"), "I "),
    (regex(r"^Been (?=(?:busy )?\w+ing\b)"), "I've been "),
    (regex(rf"^(?P<verb>{_PLAIN_PAST}) (?!me\b|us\b|.*\b(?:is|are|was|were)\b)"), r"I \g<verb> "),
)
"""A subject that is left out, with what is put in its place: "Just got back from Rome", "Been learning the cello"."""


def with_subject(said: str) -> str:
    """A sentence with the subject that it leaves out, where it does."""
    for pattern, put in _ELIDED:
        told = pattern.sub(put, said)
        if told != said:
            return f"I {told[2:3].lower()}{told[3:]}" if told.startswith("I ") else told
    return said


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
_NO_POINTER = (
    rf"(?i)^(?P<object>{_NOT_SAID}(?!(?:please|can|could|it|that|this|these|those|he|she|they|you|your|there|what|who|which|how|something|everything|someone"
    r"|nothing|knowing|seeing|hearing|here|their|his|her|our|all|so|one|the|and|or|but|i|we|as|if|when|hope\w*|wish\w*|maybe)\b)"
)
"""Where a sentence begins with a thing or a doing, not with a word that points."""
AT_IT = 0.63
"""Confidence of what one is at, which is a task where its sentence goes on to ask for help with it."""

_TALK: tuple[ExtractionRule, ...] = (
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
        rf"(?!(?:{_THOUGHT})\b)[a-z]{{3,14}}(?: .+)?|(?!(?:{_THOUGHT})\b|{PAST})[a-z]{{3,14}} .*"
        r"(?:occasionally|regularly|frequently|sometimes)))$",
        "stable_preference", "fact", 0.65),
    ExtractionRule(
        rf"^I {ADVERB}(?P<object>do (?!not\b|nothing\b|it\b|this\b|that\b|so\b|my best\b|n't).+ (?:{_OFTEN})\b.*)$",
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
        rf"^My (?P<object>{_NOT_SAID}(?!(?:\S+ ){{0,4}}birthday (?:is|are)\b)(?:[\w'-]+ ){{1,8}}?"
        rf"(?:(?:leaves?|departs?|lands?|arrives?|takes? off|sails?|starts?|begins?|ends?|opens?|closes?"
        rf"|expires?|runs? out|gets? in|goes|meets?) (?:.* )?(?:{DAY}|on (?:{WEEKDAY}))|(?:is|are) (?:(?:now|already) )?"
        rf"(?:(?:scheduled|set|due|planned|booked|coming up) (?:for |on |at |in )?.*(?:{DAY})|(?:on |at |in )?(?:{DAY}))).*)$",
        "temporary", "plan", 0.7, loose=True),
    ExtractionRule(
        rf"{_NO_POINTER}[\w' -]{{2,40}}? (?:is|are|meets?|happens?|takes place|falls) (?:on )?"
        rf"(?:{_OFTEN}|every (?:first|second|last) \w+)\b"
        r"(?=.*\b(?:mine|my|our|ours|me|us)\b).*)$",
        "stable_preference", "fact", 0.7, loose=True),
    ExtractionRule(
        rf"{_NO_POINTER}[A-Za-z](?:[\w'-]{{0,20}} ){{1,4}}?(?:(?:always|really|also|often|just|still) )?(?:(?:helps?"
        rf"|helped) me (?:to )?\w+ \w+"
        r"|(?:calms?|relaxes|relax|energi[sz]es?) me|makes? me (?:happy|feel \w+)|brings? me (?:joy|peace|comfort|happiness)"
        r"|keeps? me (?:healthy|fit|busy|sane|grounded|motivated|going|calm|relaxed|happy)).*)$",
        "stable_preference", "fact", 0.65, loose=True),
    ExtractionRule(
        rf"{_NO_POINTER}(?:[\w'\"-]{{1,20}} ){{1,6}}?(?:is|are|has been|have been|has always been|have always been"
        r"|means?|has|have) "
        r"(?:(?:such )?(?:an? )?(?:\w+ )?part of my (?:life|routine)|(?:so |very |really )?important to me|(?:so much|a"
        r" lot|the world) to me|a lot of (?:significance|meaning) (?:for|to) me|on my (?:bucket|to-do) list).*)$",
        "stable_preference", "fact", 0.65, loose=True),
)  # fmt: skip
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
_CALLED = regex(
    r"^(?:You can|(?:(?:[Mm]ost )?[Pp]eople|(?:[Mm]y )?[Ff]riends|[Ee]veryone|[Ee]verybody|[Tt]hey)"
    r"(?: all| (?:here|at work|at home))?) calls? me (?=[A-Z])"
)
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
    said = re.sub(r"\bat ours$", "at our place", re.sub(r"\bat mine$", "at my place", _CALLED.sub("Call me ", said)))
    said = _SUCH_A.sub(lambda one: f"{one['verb']}{'an' if one['what'][0] in 'aeiou' else 'a'} {one['what']}", said)
    return _OUR.sub("My ", _FAVOURITE.sub(r"My favourite is \g<thing>", said))


COMPILED = tuple((regex(rule.pattern), rule) for rule in (*_TYPED, *_GENERAL, *_TALK, *_FURTHER))
"""The rules in the order in which they are tried."""


LEFT_OPEN = regex(
    r"\b(?:you|your|yours|you're|you've|he|she|him|it|its|it's|they|them|theirs|there|that's|here)\b", re.IGNORECASE
)
_POINTS = regex(
    "^(?:(?:it|that|this|these|those|them|one|some|both|all|so|what|how|when|where|seeing|hearing|the (?:idea|way|fact|feeling"
    "|same|sound|thought|vibe|look|energy|best|rest|other|one|pic|picture|photo)|such|your|a lot|lots|a bit|a ton|tons|more"
    "|something|anything|everything|nothing|things|stuff|another|to (?:be|hear|see|know|say|do|get|have|talk|chat)|being|back"
    r"|on|rid|here|there|away|off(?=\W*$| to\b(?!.*\d))|up|better|well|good|great|fun|enough|ready|used to|over it|the hang)\b"
    r"(?! of [A-Z])|[^A-Za-z0-9\"'`$£€])",
    re.IGNORECASE,
)
VAGUE = regex(
    r"\b(?:like I \w+|something|anything|everything|everyone|stuff|things?|whatever|this(?! (?:year|month|week|weekend"
    r"|summer|winter|spring|fall|autumn|season|morning|afternoon|evening)\b)|these|those|that one|the one|so"
    r" much|a (?:blast|great time)(?! (?:at|in|on|with|\w+ing)\b)"
    "|in touch"
    "|(?<=ed )one|(?<=ing )one|milestones?|got the idea|came across the formula|and wow|a lot of shots|some money|last one"
    "|new one|same one|like that|so many|one of my own|the main|surge|some(?:one|body|where)(?! named| called)"
    r"|what happened|accordingly|similar(?! [a-z]+s\b)|sore spot|(?<!of )experiences?(?=\W*$|,| (?:that|which|and|there"
    r"|for|so|but)\b)|milestone moment|stay calm|the whole"
    " team|a lot about)"
    r"\b|\b(?:the|a) (?:kind|place|feeling|connection|vibe)\b|\ban? (?:[\w-]+ )?approach$|^working on a project (?:with"
    r"|where|that)\b|\bthe (?:issues?|problems?|errors?|following|above|below|feature|task|case|situation|process|suggestions?"
    "|tips|advice|ideas?"
    r"|plan|steps?|chance|code|result|results)\b(?! (?:of|with|in|on|for|from|to) \w)"
    r"|(?<!say )\bthat (?!(?:is|are|was|were|the|my|has|have|can|will|includes?|\w+s|\w+ed)\b|(?-i:[A-Z$£€])|\d)",
    re.IGNORECASE,
)
_AT_HAND = regex(r"the (?!.* of )(?!(?:great )?outdoors)(?:[a-z'-]+ )+[a-z'-]+")
"""Something that both see: "I love the upside-down poses" praises them, which is no lasting liking."""
_CODE = regex(r"`|\b\w+\.(?:py|js|ts|html|css|json|ya?ml|toml|log|sql|env|txt|md|sh)\b|\w\(\w*[,)]")
"""A piece of code: what is done to it is work at hand."""
_NO_OBJECT = regex(
    "^(?:completed|finished|bought|made|built|got|won|took|received|launched|submitted|declined|reduced|set(?! up)"
    "|set up|tested|used|added|had"
    "|implemented|found|accepted|borrowed|gave|saw|hit|raised|earned|created|designed|fixed|lost|spent|scheduled|booked)"
    r" (?:by|on|at|in|for|with|as|to|up|out|back(?! from \w)|it|down|over|through|along|away|from|that|how|why)\b",
    re.IGNORECASE,
)
_ENDS_EARLY = regex(
    r"^\w+ (?:after|before|since|while|during|because|so|too|again|well|much|really|somehow)\b", re.IGNORECASE
)
"""A verb without what it is done to."""
_OPEN_END = regex(
    r"\s+(?:and|or|but|with|of|to|for|the|a|an|my|in|on|at|that|which|because|so|as|like|about|from|by|is|are|his|hers|mine|theirs|ours)$",
    re.IGNORECASE,
)
_DEED = regex(rf"(?:I|We) (?:\w+ ){{0,2}}?{PAST}|I(?:'ve| have) been \w+ing ")
"""A deed: four words about it are enough without a name or a time."""
_EMPTY_TEXT = """
a an the i my me to of in on at for with and or but so it its that this is are was were be been am do does did have has had
really very just also too much more lot lots bit some any good great nice amazing awesome new time way day thing things people
fun cool own other same all about up out by from as like love enjoy prefer want new first last got get went made took started
had used set added gave found saw hit change find make take give keep day days week weeks month months year years today
off down over back away through along together around news setback chat
tomorrow yesterday tonight morning afternoon evening night weekend next last ago after before soon later now starting leaving going
"""
_EMPTY_WORDS = frozenset((*_EMPTY_TEXT.split(), *MONTHS, *WEEKDAYS))
_NAMED = regex(
    lambda: (
        rf"\b(?!I\b)[A-Z]\w+|\b{kin.english()}\b|\b(?:friend|girl|boy|woman|man|boss|teacher|neighbou?r|colleague|lady|guy)\b"
    )
)


def says_something(said: str, thing: str, rule: ExtractionRule, *, timed: bool) -> bool:
    """Whether the clause stands by itself, `thing` being what its rule is about; `timed`: its time stands before it."""
    return is_whole(said, thing) and not _is_vague(thing, said, rule) and _tells(said, thing, rule, timed=timed)


def is_whole(said: str, thing: str) -> bool:
    if not 2 <= len(said.split()) <= 45 or _POINTS.match(thing) or _OPEN_END.search(said) or "```" in said:
        return False
    if LEFT_OPEN.search(said) or _somebody_else(said):
        return False
    return said.count("(") == said.count(")") and said.count('"') % 2 == 0 and said.count("`") % 2 == 0


def _is_vague(thing: str, said: str, rule: ExtractionRule) -> bool:
    at_hand = rule.predicate == "likes" and said.startswith("I") and _AT_HAND.fullmatch(thing) is not None
    ends_early = _NO_OBJECT.match(thing) is not None or (rule.sharp and _ENDS_EARLY.match(thing) is not None)
    return at_hand or ends_early or VAGUE.search(thing) is not None or _CODE.search(thing) is not None


def _tells(said: str, thing: str, rule: ExtractionRule, *, timed: bool) -> bool:
    """Whether it has words enough that mean something, or a name, a number or a time."""
    content = telling_words(thing)
    if rule.loose:
        return bool(content)
    timed = timed or TIMED.search(said) is not None
    named = any(word[0].isupper() or word[0].isdigit() for word in content)
    if timed:
        return len(content) >= 2 or (bool(content) and not thing.startswith(content[0]))
    if rule.sharp:
        of_mine = " my " in said or " our " in said
        return len(content) >= 3 if named else len(content) >= 4 - of_mine and _DEED.match(said) is not None
    return len(content) >= (2 if named else 3)


def telling_words(thing: str) -> list[str]:
    """The words and numbers that say something in particular."""
    found = re.findall(r"[A-Za-z][\w'+.-]*|\d[\w.,:%-]*", thing)
    return [word for word in found if word.casefold() not in _EMPTY_WORDS]


def _somebody_else(said: str) -> bool:
    """Whether "his" or "her" stands for nobody that the clause names; "their" may be anybody's."""
    found = re.search(r"\b(?:his|her|hers)\b", said, re.IGNORECASE)
    theirs = re.search(r"\btheirs?\b", said)
    if theirs is not None and not re.search(r"\bwho\b", said[: theirs.start()]):
        return True
    return found is not None and not _NAMED.search(said[1 : found.start()])


_TO_THIRD = (
    (r"\b(?:I am|I'm)\b", "they are"), (r"\b(?:I've|I have)\b", "they have"), (r"\bI'll\b", "they will"),
    (r"\bI was\b", "they were"),
    (r"\bI\b", "they"), (r"\bmyself\b", "themselves"), (r"\bmine\b", "theirs"), (r"\bmy\b", "their"), (r"\bme\b(?!-)", "them"),
    (r"\bourselves\b", "themselves"), (r"\bours\b", "theirs"), (r"\bour\b", "their"), (r"\bwe're\b", "they are"),
    (r"\bwe've\b", "they have"),
    (r"\bwe\b", "they"), (r"\bus\b", "them"),
)  # fmt: skip
_REST = tuple((regex(pattern, re.IGNORECASE if pattern.startswith(r"\bm") else 0), into) for pattern, into in _TO_THIRD)
_HEADS = (
    (r"I already have\b", "already has"), (r"I still have\b", "still has"),
    (r"I'm not\b|I am not\b", "is not"), (r"I'm\b|I am\b", "is"), (r"I've\b|I have\b", "has"), (r"I'll\b", "will"),
    (r"I don't\b|I do not\b", "does not"),
    (r"I haven't\b", "has not"), (r"I can't\b|I cannot\b|I can not\b", "cannot"), (r"I was\b", "was"),
)  # fmt: skip
_HEAD = tuple((regex(pattern), into) for pattern, into in _HEADS)
_SEVERAL = ((regex(r"We're\b|We are\b"), " are"), (regex(r"We've\b|We have\b"), " have"), (regex(r"We\b"), ""))
_PRESENT = (
    "live reside work love like enjoy adore prefer hate dislike detest loathe speak know play plan intend aim drive own use wear"
    " collect drink eat teach coach study volunteer run mentor attend practice practise write cook go exercise wake get sleep jog"
    " swim meditate suffer come hail want train"
)
VERBS = frozenset(_PRESENT.split())
"""Verbs that are put into the third person."""
_FIRST_WORD = regex(
    r"^I (?P<adverb>(?:always|usually|often|sometimes|still|currently|normally|generally|no longer|never|also|(?!(?:fly"
    r"|apply|rely|supply|reply|multiply)\b)\w+ly) )?"
    r"(?P<verb>\w+)\b(?!-)"
)
_BASE = regex(
    rf"(?!{PAST}|\w+ed$|(?:am|can|cannot|could|will|would|may|might|must|should|shall|had|did|was|were|have|got|felt|thought|said|knew|told"
    r"|heard|understood|meant|forgot|began|also|just|really|never|already|once|even|first|only|still|now|then|always|often|sometimes|soon|almost|so|too|used|kept|dreamt|learnt|tried|(?!(?:fly|apply|rely|supply|reply)$)\w+ly)$)[a-z]+$"
)
"""A verb as one says it of now."""
_LEAD = regex(r"(.{1,40}?),? I ")
_AND_VERB = regex(r"^ and (\w+)\b")
_AND_OWN = regex(
    r"(?<=[\w,] )(and|but) (live|work|love|speak|own|teach|coach|run|write|cook|collect|swim|sing|hate|prefer|volunteer)(?= \w+ \w)"
)
_WITH_MINE = regex(r"^My ([^,]{1,40}?) and I\b")
_DOES_ONE_GOOD = regex(r"(?!I\b|My\b|We\b).{1,90}?\b(?P<me>me|my)\b")
_SOLO = regex(r"^I\b")
_NAME_S = regex(r"(?:(?<=^name)|(?<=^first name)|(?<=^full name))'s")


def third_person(said: str, name: str) -> str:
    """The clause about its speaker by name: "I love my dog" -> "Ann loves their dog"."""
    other = _of_another_subject(said, name)
    if other is not None:
        return other
    good = _DOES_ONE_GOOD.match(said)
    if good is not None and " I " not in good[0]:
        whose = name if good["me"] == "me" else f"{name}'s"
        return f"{said[:1].upper()}{in_third(said[1 : good.start('me')])}{whose}{in_third(said[good.end('me') :])}"
    lead = ""
    if not re.match(r"I\b", said):
        found = _LEAD.match(said)
        lead, said = (f"{found[1]}, ", said[found.end() - 2 :]) if found else ("", said)
    for pattern, into in _HEAD:
        found = pattern.match(said)
        if found:
            rest = said[found.end() :]
            if not re.match(r" \w+ing\b", rest):
                rest = _AND_OWN.sub(_singular_too, rest)
            return f"{lead}{name} {into}{in_third(rest)}"
    found = _FIRST_WORD.match(said)
    if found is not None and (found["verb"] in VERBS or _BASE.match(found["verb"])):
        tail = in_third(said[found.end() :])
        tail = tail if " to " in tail else _AND_OWN.sub(_singular_too, tail)
        second = _AND_VERB.match(tail)
        if second is not None and second[1] in VERBS:
            tail = f" and {singular(second[1])}{tail[second.end() :]}"
        return f"{lead}{name} {found['adverb'] or ''}{singular(found['verb'])}{tail}"
    return f"{lead}{name}{in_third(_SOLO.sub('', said))}"


def _singular_too(found: re.Match[str]) -> str:
    return f"{found[1]} {singular(found[2])}"


def _of_another_subject(said: str, name: str) -> str | None:
    """What is said with *my sister and I*, *we* or *my* as subject; None for *I*. The others of *we* stay unnamed."""
    both = _WITH_MINE.match(said)
    if both is not None:
        return f"{name} and their {in_third(both[1])}{in_third(said[both.end() :])}"
    for pattern, into in _SEVERAL:
        found = pattern.match(said)
        if found is not None:
            return f"{name} and others{into}{in_third(said[found.end() :])}"
    if said.startswith("My "):
        return f"{name}'s {in_third(_NAME_S.sub(' is', said[3:]))}"
    return f"{name} is called {said[8:]}" if said.startswith("Call me ") else None


def singular(verb: str) -> str:
    """The verb as said of one person: "live" becomes "lives"."""
    if verb.endswith(("s", "sh", "ch", "x", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


def in_third(text: str) -> str:
    """What follows the subject, about the same person: "my dog" becomes "their dog"."""
    for pattern, into in _REST:
        text = pattern.sub(into, text)
    return text
