"""Further shapes of English in the first person, tried after those of `english_shapes`: what was going on, what one had to do, what
was done to one, what one has, what one does, and what one did with others (*we*).

Each needs a name, a number or a time beside it, unless it tells what one is learning.
"""

from __future__ import annotations

from engramlog_server.projections.language.extraction.english_shapes import ADVERB, INNER_NOW, OFTEN, PAST
from engramlog_server.projections.language.extraction.english_words import DAY
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH

_TALKED = (
    "talked|spoke|chatted|discussed|agreed|said|decided|settled|caught|covered|mentioned|went (?:over|through|with)|set"
    "|made (?:it|sure)"
    "|landed|invaded|conquered|coloni[sz]ed|bombed|occupied|elected|voted|evolved|scored|defeated|qualified|drew|tied|drafted"
    "|traded|declared|abolished|set foot|(?:beat|won|lost)(?! our| my)"
    "|did (?:it|that)|got (?:it|to)|used|need|found|added|created|tested|implemented|defined|saw|had|fixed|updated|wrote|identified"
    "|outlined|worked|met"
)
THOUGHT = (
    "was|were|is|are|had|has|did|got|been|need|want|think|feel|know|see|mean|believe|guess|hope|wish|wonder|understand|agree"
    "|remember|recall|hear|appreciate|doubt"
    "|require|request|propose|demand|suppose|expect|imagine|look|seem|get|have|do|can|could|will|would|should|may|might|must|shall|am|find|notice|admire|promise"
    "|thank|bet|swear|care|miss|struggle|try|say|tell|ask|plan|come|realise|realize|love|like|hate|prefer|enjoy|wanna|gotta|never"
    "|recommend|suggest|assume|forget|ensure|figure|totally|really|just|also|only|still|even|always|won't|don't|didn't|haven't"
    "|understood|loved|liked|enjoyed|wanted|felt|thought|knew|meant|hoped|tried|learnt|said|told|heard|now|then|too|so|all"
    "|already|currently|usually|often|sometimes|generally|normally|and|or|but|as|in|on|at|to|for|with|could've|apologi[sz]e"
    "|worry|anticipate|intend|aim|consider|cannot|can't|once|first|dream|urge|invite|present|declare|hereby"
)
RULES: tuple[ExtractionRule, ...] = (
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
    ExtractionRule(
        rf"^I {ADVERB}(?P<object>(?!(?:{THOUGHT})\b|\w+[^s]s\b|(?:make|earn) [$£€]|keep getting|{PAST}|\w+ed\b|re(?:took|wrote"
        rf"|did|made|sent"
        rf"|set)\b)[a-z]{{2,14}} .+)$", "fact", "fact", 0.6, sharp=True),
    ExtractionRule(
        rf"^We {ADVERB}(?P<object>(?!(?:{_TALKED})\b){PAST} .+)$", "fact", "fact", 0.65, sharp=True),
    ExtractionRule(
        rf"^We(?:'re| are) {ADVERB}(?P<object>(?:planning|going|heading|hosting|having|moving|throwing|taking|organi[sz]ing|meeting"
        rf"|expecting|getting|visiting|flying|leaving|celebrating|inviting)"
        rf" (?!.*\b(?:snow|rain|showers|storms?|thunderstorms?|frost|heat|heatwave|sunshine|hail|fog|sleet|blizzard|hurricane"
        rf"|weather)\b).*(?:{DAY}|[A-Z]).*)$",
        "temporary", "plan", 0.65, loose=True),
    ExtractionRule(
        rf"^We {ADVERB}(?P<object>(?!(?:{THOUGHT})\b|{PAST}|\w+ed\b)[a-z]{{2,14}} .*\b(?:{OFTEN})\b.*)$",
        "stable_preference", "fact", 0.65, loose=True),
)  # fmt: skip
"""After those of `english_shapes`, in this order."""
COMPILED = tuple((regex(rule.pattern), rule) for rule in RULES)
_PLAIN_PAST = (
    "Went|Had|Took|Saw|Met|Bought|Spent|Ran|Wrote|Did|Won|Came|Gave|Got|Made|Drove|Flew|Ate|Built|Caught|Taught|Began|Drew|Sold"
    "|Started|Finished|Visited|Joined|Moved|Tried|Signed up|Attended|Watched|Completed|Adopted|Celebrated|Hosted|Learned|Painted"
    "|Signed|Grew up|Played|Cooked|Baked|Hiked|Volunteered"
)
"""Verbs that are seldom anything but a past where they begin a sentence."""
ELIDED = (
    (regex(rf"^(?:Just|Finally|Recently) (?={PAST})"), "I "),
    (regex(r"^Been (?=(?:busy )?\w+ing\b)"), "I've been "),
    (regex(rf"^(?P<verb>{_PLAIN_PAST}) (?!me\b|us\b|.*\b(?:is|are|was|were)\b)"), r"I \g<verb> "),
)
"""A subject that is left out, with what is put in its place: "Just got back from Rome", "Been learning the cello"."""


def with_subject(said: str) -> str:
    """A sentence with the subject that it leaves out, where it does."""
    for pattern, put in ELIDED:
        told = pattern.sub(put, said)
        if told != said:
            return f"I {told[2:3].lower()}{told[3:]}" if told.startswith("I ") else told
    return said
