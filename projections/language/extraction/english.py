"""English sentences cut into clauses, and what a clause in the first person states. Rules and word lists, no model.

`english_clauses` gives clauses that may state one thing each, and whether each is asserted; `english_statement` gives what one
states, about the user or a named person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_rules import (
    ADVERB,
    AT_IT,
    COMPILED,
    DAY,
    DOCTORS,
    DOES,
    LEADING_TIME,
    PAST,
    TIMED,
    VAGUE,
    VERBS,
    in_third,
    pets,
    says_something,
    singular,
    third_person,
    turned,
    with_subject,
)
from engramlog_server.projections.language.extraction.shape import (
    Clause,
    ExtractedStatement,
    ExtractionRule,
    StatedTriple,
    TurnText,
)
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.similar import speaks_from_its_day
from engramlog_server.projections.language.times.bounds import limited_to, of_another_time, set_in
from engramlog_server.projections.language.times.calendar import MONTH, MONTH_STARTS, WEEKDAY, WEEKDAYS

_PERSON = r"I|I'm|I've|I'll|I'd|he|she|they|we|it|it's|you|my|our|his|her|their|there|this|that|now|then|let's|what|how"
_SENTENCE = regex(
    r"[^.!?\n;]+(?:(?:\.(?=[\w/])|(?:(?<=\b[DM]r)|(?<=[ \"“][A-HJ-Z])(?=\. (?!I\b|He|She|We|They|The|It|My|And"
    r"|But)[A-Z][a-z])|(?<=\bM[rs]s)|(?<=\bMs)|(?<=\bSt)|(?<=\bProf))\.(?= [A-Z]))[^.!?\n;]+)*[.!?;]*"
)
_CUT = regex(
    r"(?:,|\s-|\s–|—)?\s+(?!so you know\b)(?:and|but|so|because|'?cause|as|since|while|although|though|plus|whereas)\s+(?="
    rf"(?:{_PERSON})\b)"
    r"|,\s+(?=(?:can|could|how|what|would|do|does|did|is|are|was|were|should|which|where|when|why|who(?!'s\b)|maybe|please|any"
    "|right|you|but|so|especially|considering|given|like when|I|I'm|I've|I'll|I'd|my|it's|and now|now|though|even though"
    "|although|because"
    r"|since|if|as|we|he|she|they|isn't|don't|doesn't|thanks|haha|lol|remind me|also|plus|'?cause|which|making|it"
    r"|(?:the|my) (?:doctor|gp|vet) says|remember that|remember,|don't forget|keep in mind|from now on)\b)"
    r"|,?\s+but\s+(?=(?:everyone|everybody|people|most people|friends|my friends|they)(?: all)? calls? me\b)"
    r"|,\s+(?=the [\w-]+ (?:wouldn't|couldn't|didn't|won't|can't|doesn't|don't|isn't|wasn't)\b)"
    r"|,\s+(?=use (?:that|it|this)\b)"
    r"|,?\s+so\s+(?=(?:please|keep|make|use|avoid|skip|leave|write|give|put|tell|don't|do not)\b)"
    r"|,\s+and\s+(?=with\b)|\s+and\s+(?=(?:want|wants|need|would|am|have|had to|can't|hope|feel|felt|was|don't|got to|it's"
    r"|hoping|wondering|trying|thinking)\b)"
    r"|\s*(?<![-–—])[-–—]+\s+|,?\s+(?=(?:can you|could you|would you|will you)\b)|\s+(?=because|since I|though I)",
    re.IGNORECASE,
)
ASKS = regex(
    "^(?:and |but |so |well |hmm |hey |now )*(?:can(?!['’]t)|could|how|what|would|do|does|did|is|are|was|were|should|which"
    "|where|when|why|who|whose|will|have you|has|any|am i|may|might|shall|isn't|aren't|don't you|doesn't|didn't|won't|ever"
    r"|got any|right)\b",
    re.IGNORECASE,
)
"""How a question begins."""
_WONDERS = regex(
    r"^\s*(?:and |but |so )*(?:now )?(?:I'm|I am|I was) (?:just |now |also |kinda )*(?:wondering|curious|not sure|unsure)\b",
    re.IGNORECASE,
)
"""Where a question begins that does not look like one: "I ran 3 miles, and I'm wondering if that is enough?"."""
_OFFERS = regex(r"^\W*(?:want to|wanna|care to|fancy|ready to|mind if|got time|up for)\b", re.IGNORECASE)
"""Where a question begins that leaves its subject out: "I made a bowl - want to see it?"."""
_GRANTED = regex(
    r"^\W*(?:especially |particularly |even )?(?:considering|given that|given|since|now that|though|although)\s+(?:that )?"
    r"(?=(?:I|I'm|I've|my|we|we've)\b(?!.*\b(?:would|could|might|if)\b))",
    re.IGNORECASE,
)
"""What a question takes for granted at its end: "What should I read, considering I'm 35?"."""
_TAG = regex(r"(?:right|correct|isn't it|don't I|aren't I|am I not|no|yes|true|huh)\?+$", re.IGNORECASE)
_INDIRECT = regex(
    r"(?:wonder\w*|debat\w+|curious|confirm|determine|understand|doubt\w*|question\w*|whether|let me know|tell me|sure|see"
    r"|know|ask\w*|check|tell|unsure|decide|find out|tried|figure out)\s*$",
    re.IGNORECASE,
)
_IF = regex(
    r"^\W*(?:had|were) I\b|\b(?:if|unless|suppose|supposing|imagine|pretend|what if|assuming|hypothetically|in case"
    r"|let's say|act as"
    r"|in (?:my|the|a|this|that) (?:\w+ )?(?:novel|story|dream|game|book|script|scenario|role|example|poem|song|simulation"
    r"|role[- ]?play|dungeon|screenplay)|for (?:the purposes? of )?(?:this|the|our|an?) role[- ]?play"
    r"|(?:story|poem|tale|scene|song|novel|script) (?:where|in which))\b",
    re.IGNORECASE,
)
_UNSAYS = regex(
    r"\b(?:lol|lmao|j/?k|kidding|joking|jokes?|in my dreams?|not (?:me|mine|us)|as if|i wish|(?:says?|said|wrote"
    r"|according to) (?-i:[A-Z])\w+"
    r"|(?:says?|said) (?:my|the|his|her|an?|every)\b)|,\s*(?:my \w+|\w+ did|I hear|(?:did|have) you)\W*$",
    re.IGNORECASE,
)
"""What takes a sentence without a subject back, or says that it is somebody else's; in it, or just after it."""
_NEVER_MIND = regex(
    r"^\W*(?:(?:lol|haha|no|nah|ok|okay)\W+)*(?:i'?m )?(?:just |only |totally )?(?:kidding|joking|jk|j/k)\b",
    re.IGNORECASE,
)
_NOBODY_IS = (
    r"\bI(?:'m| am|’m) (?:also |really |secretly )?(?:the (?:queen|king|pope|emperor|empress|tsar|sultan"
    r"|easter bunny|tooth fairy|dalai lama|messiah|(?:president|prime minister)(?! of (?-i:[a-z])))\b(?!['’]s)"
    r"|(?-i:Napoleon|Santa(?: Claus)?|Father Christmas|Batman|Superman|Cleopatra|Elvis|Beyoncé|Shakespeare)(?!\w| (?-i:[A-Z])))"
)
_SAID_BY = regex(
    _NOBODY_IS + r"|^\W*(?:oh,? (?:sure|great|joy|yes|right|wonderful)|yeah,? right|sure,? sure|as if"
    r"|(?:great|wonderful|fantastic"
    r"|brilliant|perfect), I (?:just|really|so))\b|,\s*(?:(?:says?|said|claims?"
    r"|claimed|wrote|quipped|joked|according to) (?:every|the|my|his|her|an?|(?!I\b)(?-i:[A-Z])\w+)\b"
    r"|(?:he|she|they) (?:says?|said|thinks?|claims?|claimed)\W*$)",
    re.IGNORECASE,
)
"""Behind what somebody else said, or before irony."""
_OWN = regex(
    r"^\W*(?:(?:and|but|so|well|hi|hey|yes|yeah|also|oh|wow),? )*(?:I|I'm|I've|I’m|I’ve|we|we're|we've|We|We're|We've)\b"
)
_OTHERS = regex(
    r"\b(?:you|he|she|they|him|them|her|his|their|your|it|its|this|that)\b|(?i:\bmy (?:[\w-]+ )?(?:friends?|boss|team)\b)"
    r"|(?<=[a-z,;:] )(?!I\b)[A-Z]\w+"
)
"""Other people and things that the next sentence may speak about."""
_GREETS = regex(
    r"^\W*(?:(?:hi|hey|hello|good (?:morning|evening|afternoon))(?:,? (?:there|all|everyone|guys|[A-Z]\w+))?|wow|yay"
    r"|great news|good news|guess what"
    r"|(?:good|great|nice|so good) to (?:see|hear from) you|long time no (?:see|talk)|how(?:'s| is) it going|how are you(?: doing)?"
    r"|what's (?:up|new)|hope (?:you're|you are|all is|all's) (?:doing )?(?:well|good|great)"
    r"|yes|yeah|yep|thanks|thank you|haha)[\W]*$",
    re.IGNORECASE,
)
_MOST_AROUND = 1_000
_JOKES = regex(
    r"\b(?:joking|kidding|just a joke|pulling your leg|(?:that's|it's|that was|it was) (?:a lie|not true)|made (?:it|that|this) up"
    r"|but (?:no,? )?I (?:didn't|haven't|never did))\b",
    re.IGNORECASE,
)
_TEXT_TO_MAKE = regex(
    r"^\W*(?:(?:please|now|then|can you|could you),? )*(?:write|draft|compose|complete|continue|finish|say|(?P<given>translate"
    r"|paraphrase|rewrite|re-?phrase|proofread|summari[sz]e|correct|edit|polish))\b(?:[^:]{0,120}:|.{0,80}\bthe following\b)",
    re.IGNORECASE,
)
"""Where a text begins that is to be made, or worked on (`given`: up to its end): nobody states it about themselves."""
_PLAYS = regex(
    r"^\W*(?:(?:please|ok|okay|now|so|then),? )*(?:let's (?:role[- ]?play|pretend|imagine)|role[- ]?play|pretend\b"
    r"|suppose (?:I|my|that)|imagine (?:I|my|that I|you(?: are|'re) me)|(?:act|answer|respond|speak|write) as (?:if|me|my))\b",
    re.IGNORECASE,
)
"""Where a turn goes on as somebody that its speaker is not."""
_REPORTS = regex(
    r"(?<!to )\b(?:says?|said|told \w+|asks?|asked|replied|wrote|claims?|claimed|thinks?|goes|went like|like|quote)[:,]?\s*$",
    re.IGNORECASE,
)
_QUOTED = regex(r"[\"“«]([^\"”»]{1,2000})[\"”»]|(?<!\w)'([^'\n]{3,200})'(?!\w)")
_ONE_OF_MINE = regex(
    lambda: (
        rf"^\W*(?:(?:\w+ ){{0,3}})my (?!(?:\w+ )*(?:name|am|is|was|are|were|has|had)\b)"
        rf"(?:(?:\w+ ){{1,2}}(?!(?:{'|'.join(map(singular, sorted(VERBS)))})$)|)\w+$"
    ),
    re.IGNORECASE,
)
"""Somebody, and no clause about somebody: "my sister" of "my sister and I", and not "my sister cooks" or "my name is Lin"."""
_SUBJECT = regex(
    lambda: (
        r"^\W*(?:(?:and|but|so|well|hi|hey|yes|yeah|also|oh),? )*(?:(?P<mine>[Mm]y (?:\w+ ){1,2}?(?=\w+s\b))|I(?:'m\b| am\b"
        rf"| (?:also |now |currently |still |usually )?(?:{'|'.join(sorted(VERBS))})\b))"
    )
)
_NOUNS_TOO = frozenset(
    {"drink", "exercise", "practice", "plan", "use", "run", "wake", "want", "train", "sleep", "come"}
)
"""Verbs that are as often nouns, or hang on another."""
_SECOND_VERB = regex(
    lambda: (
        r",? and (?P<rest>(?:also |now |currently |usually |often |always )?"
        rf"(?:(?P<own>{'|'.join(sorted(VERBS - _NOUNS_TOO))})|(?:{'|'.join(sorted(map(singular, VERBS - _NOUNS_TOO)))}))"
        r" (?:in|at|as|on|the|an?|my|for|with|about|it|two|three|\d+|(?!I\b)[A-Z]\w*|\w+(?:ing|s))\b.*)$"
    )
)
_OPEN_TO_MORE = regex(r"\bto \w|\b(?:can|will|would|could|should|might|do|does|did|not)\b|n't\b")
"""What a second verb may go with rather than with the subject."""
_FIRST_PERSON = regex(r"\b(?:I|I'm|I've|my|me|we|you)\b", re.IGNORECASE)


def english_clauses(text: str) -> Iterator[Clause]:
    """The clauses of a text, in order, each with whether it is asserted and whether it asks something."""
    hushed = _QUOTED.sub(_hushed, text)
    sentences = [(one.start(), one.end()) for one in _SENTENCE.finditer(hushed)]
    own, played = True, False
    for place, (start, end) in enumerate(sentences):
        following = hushed[slice(*sentences[place + 1])] if place + 1 < len(sentences) else ""
        elided = own and not _UNSAYS.search(hushed[start:end]) and not _UNSAYS.search(following)
        for at, clause in enumerate(_of_sentence(text, hushed, start, end)):
            sure = clause.asserted and not played and not _NEVER_MIND.match(following)
            sure = sure and not hushed[max(0, start - 6) : start].rstrip().casefold().endswith("e.g.")
            asks = clause.question and not played
            around = f"{hushed[start:end]} {following}"[:_MOST_AROUND]
            elided_here = elided and at == 0 and not clause.before
            yield clause._replace(asserted=sure, question=asks, elided=elided_here, around=around)
        made = _TEXT_TO_MAKE.match(hushed[start:end])
        played = (
            played or (made is not None and made["given"] is not None) or _PLAYS.match(hushed[start:end]) is not None
        )
        own = _goes_on(hushed[start:end], own=own)


def _goes_on(sentence: str, *, own: bool) -> bool:
    """Whether a subject that the next sentence leaves out is the speaker: this one is about the speaker alone, or greets."""
    said = sentence.strip()
    if not any(map(str.isalnum, said)):
        return own
    if _GREETS.match(said):
        return own
    return not said.endswith("?") and _OWN.match(said) is not None and _OTHERS.search(said) is None


def _hushed(found: re.Match[str]) -> str:
    """A quotation in the first person says nothing about the speaker; a title is kept."""
    said = found[1] or found[2]
    return "~" * len(found[0]) if _FIRST_PERSON.search(said) and said.count(" ") > 1 else found[0]


def _of_sentence(text: str, hushed: str, start: int, end: int) -> Iterator[Clause]:
    sentence = hushed[start:end]
    asks = sentence.rstrip().endswith("?")
    cuts = [0, *(at for found in _CUT.finditer(sentence) for at in (found.start(), found.end())), len(sentence)]
    pieces = list(_whole(sentence, [(cuts[i], cuts[i + 1]) for i in range(0, len(cuts) - 1, 2)]))
    asking = [bool(ASKS.match(sentence[a:b].strip())) for a, b in pieces]
    if asks and not any(asking) and len(pieces) > 1 and _OFFERS.match(sentence[slice(*pieces[-1])]):
        asking[-1] = True
    if asks and not any(asking):
        asks_from = next((at for at, (a, b) in enumerate(pieces) if at and _WONDERS.search(sentence[a:b])), 0)
        asking = [at >= asks_from for at in range(len(pieces))]
    before, reported = "", False
    doubtful_from = _doubtful_from(sentence, pieces)
    if asks and _TAG.match(sentence[pieces[-1][0] : pieces[-1][1]].strip()):
        doubtful_from = 0  # "..., right?" asks whether it is so
    afters = [*(sentence[a:b] for a, b in pieces[1:]), ""]
    for place, ((a, b), question, after) in enumerate(zip(pieces, asking, afters, strict=True)):
        piece = sentence[a:b]
        # What somebody is said to have said goes on to the end of the sentence.
        reported = reported or bool(_REPORTS.search(before))
        granted = place > 0 and _GRANTED.match(piece) is not None
        asked = question or (asks and "?" in piece and not granted)
        asserted = not (asked or reported or place >= doubtful_from)
        clause = Clause(text[start + a : start + b], start + a, start + b, asserted, asked, before, after)
        yield from _each_verb(clause)
        before = piece


def _each_verb(clause: Clause) -> Iterator[Clause]:
    """ "I live in Graz and play the cello" as two clauses, each with its subject."""
    start = clause.start  # where the text without the subject that was put before it stands
    given = 0
    while True:
        led = _SUBJECT.match(clause.text)
        second = None if led is None else _SECOND_VERB.search(clause.text, led.end())
        if led is None or second is None or _OPEN_TO_MORE.search(clause.text, led.end(), second.start()):
            break
        if (led["mine"] is None) != (second["own"] is not None):
            break
        yield clause._replace(text=clause.text[: second.start()], end=start + second.start() - given)
        start += second.start("rest") - given
        subject = f"{(led['mine'] or 'I').strip()} "
        given = len(subject)
        clause = clause._replace(text=f"{subject}{clause.text[second.start('rest') :]}", start=start, before="")
    yield clause


def _whole(sentence: str, pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces, but "my sister and I" in one."""
    held: tuple[int, int] | None = None
    for a, b in pieces:
        if held is not None and _ONE_OF_MINE.match(sentence[slice(*held)]) and sentence.startswith("I", a):
            held = (held[0], b)
            continue
        if held is not None:
            yield held
        held = (a, b)
    if held is not None:
        yield held


def _doubtful_from(sentence: str, pieces: list[tuple[int, int]]) -> int:
    """The first piece on which a condition or a joke casts doubt: "I moved in May, and you can tell me if ..." supposes no move.

    A condition that begins its piece is about the piece before it too: "I will quit, if they let me".
    """
    if _TEXT_TO_MAKE.match(sentence) is not None:
        return 0
    if _JOKES.search(sentence) is not None or _SAID_BY.search(sentence) is not None:
        return 0
    for place, (a, b) in enumerate(pieces):
        found = next(
            (one for one in _IF.finditer(sentence, a, b) if not _INDIRECT.search(sentence[: one.start()])), None
        )
        if found is not None:
            begins = not sentence[a : found.start()].strip(" ,-–—")
            return max(0, place - 1) if begins else place
    return len(pieces)


MOST_WORDS, MOST_WORDS_TO_DO = 9, 14
"""Of an object that is a thing, and of one that is something to be done."""
_LEAD = (
    r"^(?:[A-Z]\w+(?: \w+){0,2},? )?I(?:'ve| have)? "
    r"(?:also |recently |just |already |now |finally |once |first |even |successfully )*"
)
_AM = r"^I(?:'m| am) (?:also |currently |now |still |really )*"
_DOES = r"^I (?P<often>always |usually |often |sometimes |still |regularly |frequently |occasionally |rarely |never )?"
_DONE = (
    "visited|bought|adopted|joined|attended|finished|completed|read|watched|met|painted|won|passed|hosted|organi[sz]ed|launched"
    "|published|received|wrote|built|booked|scheduled|accepted|added|implemented|sold|donated|planted|injured|hired|designed"
    "|created|deployed|submitted|chose|picked|earned|climbed|directed|recorded|drafted|upgraded|celebrated|ordered|fixed|lost"
    "|baked|cooked|borrowed|learned|learnt|tested|defined|finalized|identified|declined"
)
_PLAIN: tuple[tuple[str, str], ...] = (
    (_LEAD + r"(?:went|been|travell?ed|flew|drove) to (?P<object>.+)$", "went to"),
    (_LEAD + r"signed up for (?P<object>.+)$", "signed up for"),
    (_LEAD + r"(?:applied) (?P<slot>to|for) (?P<object>.+)$", "applied"),
    (_LEAD + r"enrolled in (?P<object>.+)$", "enrolled in"),
    (_LEAD + r"graduated from (?P<object>.+)$", "graduated from"),
    (_LEAD + r"volunteered (?P<slot>at|for|with) (?P<object>.+)$", "volunteered"),
    (_LEAD + r"(?:decided|resolved) to (?P<todo>.+)$", "decided to"),
    (_LEAD + r"decided against (?P<object>.+)$", "decided against"),
    (_LEAD + r"(?:settled on|went with|opted for) (?P<object>.+)$", "chose"),
    (_LEAD + r"(?:started|began|taken up|took up) (?P<todo>(?:learning|playing|reading|writing|studying|taking|using"
     r"|practicing|training|teaching|painting|collecting) .+)$", "started"),
    (_LEAD + rf"(?P<verb>{_DONE}) (?P<object>.+)$", ""),
    (r"^I(?:'ve| have) (?:also |just )?never (?P<never>\w+) (?P<object>.+)$", ""),
    (r"^I used to (?P<todo>(?!be\b)\w+ .+)$", "used to"),
    (_AM + r"(?P<slot>reading|studying|learning|writing|building|developing|dating|watching|playing|designing|training for"
     r"|majoring in|working on|working towards) (?P<object>.+)$", "is"),
    (_AM + r"using (?P<object>.+)$", "uses"),
    (_AM + r"(?:planning|going|gonna|preparing|aiming|intending) to (?P<todo>.+)$", "plans to"),
    (r"^I (?:also )?(?:plan|intend|aim) to (?P<todo>.+)$", "plans to"),
    (_AM + r"trying to (?P<todo>.+)$", "is trying to"),
    (r"^I want to (?P<todo>.+)$", "wants to"),
    (r"^My (?:main |biggest |next |long-term |ultimate )?(?:goal|dream|aim) is to (?P<todo>.+)$", "aims to"),
    (r"^(?:I have|I've got|I own) (?P<object>(?:a|an) (?:\w+ ){0,3}(?:appointment|meeting|interview|exam|flight|session)\b.*)$",
     "has"),
    (_DOES + r"(?P<does>drive|own|use|wear|collect|drink|eat|teach|coach|study|run|mentor|attend|write|cook|play|watch|read"
     r"|visit|make|bake|grow) (?P<object>.+)$", ""),
    (_DOES + r"volunteer (?P<slot>at|for|with) (?P<object>.+)$", "volunteers"),
    (r"^I(?:'m| am) married to (?P<object>.+)$", "is married to"),
)  # fmt: skip
_RULES = tuple((regex(pattern, re.IGNORECASE), predicate) for pattern, predicate in _PLAIN)
_WORKS = regex(
    r"^(?:I (?:currently )?work|I(?:'m| am)(?: currently)? (?:working|employed)) (?P<slot>as|at|for) (?P<object>.+)$"
)
_OF_KIN = regex(
    lambda: (
        rf"^My (?P<who>(?:[a-z-]+ )?(?:{kin.english()}|{pets()}|best friend|boss|mentor))(?:,? (?P<name>[A-Z]\w+),?)? "
        r"(?P<verb>is called|is named|is from|is an?|lives? in|works? (?:as|at|for)|loves?|likes?) (?P<object>.+)$"
    )
)
_KIN_VERBS = {"is named": "is called", "is a": "is", "is an": "is"}
_STARTS = "|".join((MONTH_STARTS, *(name.removesuffix("day") for name in WEEKDAYS)))
_TIME = regex(
    r",? (?:\(?(?:yesterday|today|tonight|tomorrow|recently|lately|already|now|right now|at the moment|too|as well|though|again"
    r"|(?:just )?(?:last|this|next|the other|past|on the) \w+(?: \w+)?|(?:a|an|one|two|three|four|five|six|(?:a )?few"
    r"|a couple of|\d+) (?:hours?|days?|weeks?|weekends?|months?|years?) ago"
    r"|(?:on|by|in|since|from|until|before|around|starting) (?:early |late "
    rf"|mid-?)?(?:{_STARTS}|\d{{4}})\w*\.?(?: \d[\w,]*)*"
    r"(?: at \d[\w: ]*)?|for (?:about |over |almost )?(?:\d+|a|an|one|two|three|four|five|six|several|many) (?:\w+ )?"
    r"(?:days?|weeks?|months?|years?|hours?))\)?)$",
    re.IGNORECASE,
)
_ENDS = regex(
    r"(?:,| -| –|;|:)\s.*$|\s(?:because|since|but|so|which|who|whom|whose|where|while|although|though|due to|thanks to"
    r"|after|before|until|if|as (?:I|it|we|they|my|well)|(?:and|or) (?:also |then |even )?(?:\w+ed|met|built|wrote|won|bought"
    r"|read|made|got)|instead of|rather than|especially|including|such as|that|whenever|when|whether)\b.*$"
    r"|\s(?:to|and|or) (?:\w+ly )?(?:help|make|get|be|see|have|had|got|went|go|do|did|stay|keep|improve|learn|work|was|were"
    r"|am|is|are|it|I|they|we|he|she|improved|tested|chosen|chose|caught|celebrate|review|build|boost|spend|win|share|raise"
    r"|reduce|ensure|avoid|start|find|support|discuss|increase|include|link|relax|study|practice|prepare|show|meet|check"
    r"|pushed?|push|give|take|took|talk|watch|use|used|bring|let|try|tried|feel|felt|really|just|already|now|even|planned"
    r"|for|with|in|on|at)\b.*$",
    re.IGNORECASE,
)
_ENDS_TO_DO = regex(
    r"(?:,| -| –|;|:)\s.*$|\s(?:because|since|but|so|although|though|which|where|while|due to|if|whenever|when|whether"
    r"|instead of|rather than|that)\b.*$",
    re.IGNORECASE,
)
_THING_POINTS = regex(
    r"^(?:it|that|this|these|those|them|they|there|here|one|some|both|all|so|what|how|when|where|who|more|most|much|many|any"
    r"|something|anything|everything|nothing|things?|stuff|a lot|lots|a bit|a few|few|another|someone|somebody|people|up|out|off"
    r"|on|in|at|to|by|back|down|over|through|along|about|for|with|from|as|like|well|together|home|around|away|not|only|just"
    r"|again|too|the (?:same|first|last|other|rest|whole|best|next|one|following|above|issues?|problems?|details?)|my own)\b"
    r"|\b(?:it|this|these|those|there|here|something|anything|stuff|you|your|yours|he|she|him|his|her|hers|myself|themselves)\b"
    r"|^\W*$",
    re.IGNORECASE,
)
_VAGUE_HEAD = regex(
    r"\b(?:bit|thing|things|one|ones|way|time|times|kind|lot|part|step|parts|steps|issue|problem|situation|details|everything|anything)$",
    re.IGNORECASE,
)
_OPEN = regex(
    r"(?:\s(?:and|or|of|to|for|the|a|an|my|in|on|at|with|by|from|about|into|via|using|through|their|is|are|was|were))+$",
    re.IGNORECASE,
)
_WHEN = regex(
    r",? (?P<when>(?:when|whenever|while|during|after|before|if)(?: [\w'-]+){1,4}"
    r"|in the (?:mornings?|evenings?|afternoons?|winter|summer|spring|autumn|fall)|at (?:night|home|work|lunch)"
    rf"|on (?:weekends|weekdays|(?:{WEEKDAY})s)"
    r"|every (?:single )?(?:day|morning|evening|night|week|weekend|month|year|\w+day|summer|winter)"
    r"|(?:once|twice|three times) a (?:day|week|month|year)|daily|weekly)$",
    re.IGNORECASE,
)
_THAT_ONE = regex(r"(?<=[a-z]) (?:I|we)(?:'ve|'m|'d)? [a-z]+\b.*$|(?<=[a-z]) \d+ (?:days?|weeks?|months?|years?)$")
"""Which one it is, in a clause of its own: "the shelter I volunteer at"."""
_ASIDE = regex(
    ",? (?:to be honest|right now|at the moment|these days|lately|sometimes|though|too|as well|so much|in general)$",
    re.IGNORECASE,
)
_HOW_MUCH: tuple[tuple[str, float], ...] = (
    (r"\b(?:always|every (?:single )?(?:day|morning|night)|daily|all the time)\b", 1.0),
    (r"\b(?:usually|normally|generally|most of the time)\b", 0.8),
    (r"\b(?:often|regularly|frequently)\b", 0.7),
    (r"\b(?:sometimes|now and then|from time to time|at times)\b", 0.4),
    (r"\b(?:occasionally|once in a while)\b", 0.3),
    (r"\b(?:rarely|seldom|hardly ever)\b", 0.1),
    (r"\b(?:absolutely|crazy about|obsessed|adore)\b|\bhuge fan\b", 1.0),
    (r"\b(?:love|hate|detest|loathe|can't stand|passionate)\b|\b(?:big|massive) fan\b", 0.9),
    (r"\breally\b|\bvery\b|\bso much\b", 0.8),
    (r"\b(?:kind of|kinda|sort of|a bit|a little)\b", 0.4),
)
_DEGREES = tuple((regex(pattern, re.IGNORECASE), degree) for pattern, degree in _HOW_MUCH)


def english_fact(said: str, name: str) -> StatedTriple | None:
    """The triple of a clause in the first person, opened at its subject; None where it is not plain."""
    if (found := _OF_KIN.match(said)) is not None:
        return _of_kin(found, name)
    for pattern, predicate in _RULES:
        found = pattern.match(said)
        if found is not None:
            return _fact(found, predicate, name)
    return None


def _works_as(said: str) -> str | None:
    """`works as`, `works at` or `works for`, where the clause says so."""
    found = _WORKS.match(said)
    return None if found is None else f"works {found['slot']}"


def _degree_of(said: str) -> float | None:
    """How often or how much, from 0 to 1; None where nothing is said of it."""
    return next((degree for pattern, degree in _DEGREES if pattern.search(said)), None)


def _parted(thing: str) -> tuple[str, str | None]:
    """An object without the condition in which it holds, and that condition: "coffee in the morning"."""
    found = _WHEN.search(thing)
    if found is None or len(thing[: found.start()].strip()) < 3:
        return thing, None
    return thing[: found.start()].rstrip(" ,"), in_third(found["when"])


def _tidied(thing: str) -> str:
    """An object without the asides around it: "also pizza", "bowling, to be honest"."""
    return _ASIDE.sub("", re.sub("^also ", "", thing))


def _of_kin(found: re.Match[str], name: str) -> StatedTriple | None:
    verb = re.sub(r"^(lives?|works?|loves?|likes?)\b", lambda one: one[1].rstrip("s") + "s", found["verb"])
    verb = {"loves": "likes"}.get(_KIN_VERBS.get(verb, verb), _KIN_VERBS.get(verb, verb))
    thing = _object(found["object"])
    who = f"{name}'s {found['who']}" + (f" {found['name']}" if found["name"] else "")
    return None if thing is None else StatedTriple(who, verb, thing, degree=_degree_of(found["verb"]))


def _fact(found: re.Match[str], predicate: str, name: str) -> StatedTriple | None:
    groups = found.groupdict()
    habit = bool(groups.get("does"))
    whole = str(groups.get("todo") or groups["object"])
    if groups.get("todo"):
        thing, when = _to_do(whole), None
    else:
        whole, when = _parted(whole) if habit or predicate in ("volunteers", "uses") else (whole, None)
        thing = _object(whole)
    if thing is None:
        return None
    often = (groups.get("often") or "").strip().casefold()
    verb = groups.get("verb") or groups.get("never") or ""
    if habit:
        verb = singular(str(groups["does"]).casefold())
    elif groups.get("slot"):
        verb = f"{predicate} {groups['slot']}"
    denied = often == "never" or bool(groups.get("never"))
    degree = _degree_of(found.string) if habit and not denied else None
    return StatedTriple(name, (verb or predicate).casefold(), thing, denied, degree, when)


def _object(text: str) -> str | None:
    """What is left of an object once times, reasons and further verbs are cut off; None where that says nothing by itself."""
    thing = _shortened(text, _ENDS)
    if not thing or _THING_POINTS.search(thing) or _VAGUE_HEAD.search(thing) or len(thing.split()) > MOST_WORDS:
        return None
    return None if thing.casefold() in ("my", "a", "the") or _unpaired(thing) else in_third(thing)


def _unpaired(thing: str) -> bool:
    """Whether it was cut in the middle of a quotation or a bracket."""
    return thing.count("(") != thing.count(")") or thing.count('"') % 2 == 1 or thing.count("`") % 2 == 1


def _to_do(text: str) -> str | None:
    thing = _shortened(text, _ENDS_TO_DO)
    words = thing.split()
    if not 2 <= len(words) <= MOST_WORDS_TO_DO or _THING_POINTS.search(thing) or _unpaired(thing):
        return None
    if _VAGUE_HEAD.search(thing):
        return None
    return in_third(thing)


def _shortened(text: str, ends: re.Pattern[str]) -> str:
    thing = _THAT_ONE.sub("", ends.sub("", text.strip(" .,!")))
    for _ in range(3):
        thing = _OPEN.sub("", _TIME.sub("", thing)).strip(" .,!")
    return thing


MOST_LETTERS = 400
"""A longer clause is no talk."""
_UNSURE = regex(
    r"\b(?:would|could|might|may(?! \d)|maybe|perhaps|probably|possibly|wish|guess|suppose|imagine|i bet|should"
    "|hope|hoping|seems?"
    r"|in (?:the|this|that|your) (?:\w+ )?(?:picture|photo|pic|image|drawing|diagram|painting|video|scene|story|example"
    r"|sample|dataset)"
    r"|(?:is|was) (?:the|an?|my|his|her|their) (?:\w+ )?(?:title|name|caption|headline|quote|motto|slogan|lyrics?|first line"
    r"|opening line)"
    r"|supposedly|apparently|pretend\w*|dreamed|dreamt|not sure|almost|nearly|joking|kidding|imagin\w*|daydream\w*|dreaming"
    r"|fantasi[sz]\w+|lying about|lied|wonder\w*|i'd)\b",
    re.IGNORECASE,
)
_IN_MAY = regex(
    r"\bmay (?=\d)|(?<=\d )may\b|(?<=(?:st|nd|rd|th|of|in|on|by) )may\b|(?-i:(?<=[a-z,] )May\b)", re.IGNORECASE
)
"""The month."""


def unsure(said: str) -> bool:
    """Whether a clause says that something may be so."""
    return _UNSURE.search(_IN_MAY.sub("", said)) is not None


_CORRECTS = regex(
    r"(?:(?:no|well|oh|sorry),? )*(?:actually|correction|scratch that|i meant?|to correct myself|in fact)\b"
)
_FILLERS = regex(
    "^(?:(?:yeah|yep|yes|yup|no|nope|well|oh|so|and|but|(?:hey|hi|hello)(?: there| all)?|wow|fyi|incidentally|just so you know"
    "|for the record|for context|for what it's worth|in case it (?:helps|matters)"
    "|I (?:should|must|forgot to) (?:say|mention|add)(?: that)?|hmm|ah|aw|haha|also|plus|btw|by the way"
    "|anyway|ok|okay|sure|actually|honestly|personally|you know|to be honest|in fact|as for me|i mean|for me|same here|thanks"
    "|thank you|lately|recently"
    "|now|then|and now|oh yeah|right now|currently|sadly|luckily|fortunately|unfortunately|speaking of which|guess what"
    "|remember that|please remember(?: that)?|(?:please )?note that|keep in mind(?: that)?|don't forget"
    r"(?: that)?)\b[,!.:]*\s*)+",
    re.IGNORECASE,
)
_FACTIVE = regex(
    rf"^(?:(?:(?:the|my|our) )?(?:{DOCTORS}) (?:just )?(?:says|said|told me|thinks|confirmed|found(?: out)?)(?: that)? "
    r"|(?:especially |particularly )?(?:given|considering|now)(?: that)? |I(?:'m| am|'ve been| was) (?:just |so |really"
    r" |very |super |kinda |pretty |a bit "
    r"|kind of )*(?:glad|happy|proud|sad|upset|frustrated|thrilled|relieved|grateful|sorry|annoyed|disappointed|pleased"
    r"|embarrassed|lucky"
    r"|surprised|stressed|bummed|excited)(?: that)? |I (?:just |also |then )?(?:remembered|realized|realised|remember"
    r"|noticed|came across the fact) that |(?:I )?(?:just )?wanted to (?:let you know|tell you|share)(?: that)? "
    r"|I'm (?:so |really |super )?(?:excited|happy|glad|thrilled|proud|pleased) to (?:tell you|share|say|announce)(?:"
    r" that)? )(?=(?:I|I've|I'm|my|we|we've)\b|one of (?:my|our|the) \w+, [A-Z])",
    re.IGNORECASE,
)
"""What a doctor says, what is felt of a fact, or taken for granted: "I'm proud that I ran ...", "given that I've moved ..."."""
_SUBORDINATE = regex(
    rf"^(?:(?:especially |even |ever )?(?:because|since|though|although|as|whereas|now) "
    rf"|(?:(?:like )?(?:the time )?when|(?:especially )?after) (?=I {ADVERB}{PAST}))(?=(?:I|I've|I'm|my|we|we've)\b)",
    re.IGNORECASE,
)
"""What is taken for granted in a clause that hangs on another, where that one asks nothing: "since I moved to Graz"."""
_ONLY_SUPPOSED = regex(rf"{ASKS.pattern}|^(?:I|we|my \w+)(?:'d| would| might| could)\b", re.IGNORECASE)
"""What it may hang on and be no fact: "After I moved to Graz, I'd be happy"."""
_MEANT = regex(r"^(?:I mean|I meant|to correct myself|correction:?|scratch that)[,:]? (?=I\b|my\b)", re.IGNORECASE)
_ADDED = regex(
    r"(?<=[a-z]),? (?:too|as well|though|btw|by the way|ever|for sure|indeed|lol|haha|tbh|you know"
    r"|right now|at the moment|these days|(?:just )?so you know|fyi|for what it's worth|incidentally)$"
)
_DENIES = regex(
    r"\b(?:not|never|no longer|don't|hate|dislike|can't stand|cannot stand|detest|loathe|stopped|quit|given up|gave up)\b"
)
_HERE = regex(r"^(?!Up|In|Down|Back|Right|Over|Still|New|Come|Born)(?P<name>[A-Z][a-zà-ÿ]+) here$")
"""A name at the beginning of a turn: "Oskar here, I repair accordions"."""
_INTRODUCES = regex(
    r"(?:(?i:hi|hey|hello|so|well|morning|good \w+),? )*"
    r"(?:[A-Z][\w'-]+ here|(?i:I'm|I am|my name is|my name's) [A-Z][\w'-]+)"
)
"""The clause in which somebody gives their name: what they say next of what they do is their trade."""
_MILD = regex(
    "^((?:I|We)(?:'m|'re|'ve|'ll| am| are| have| was)?)((?: (?:really|also|just|super|totally|absolutely|definitely|actually"
    "|honestly|truly|kinda"
    "|kind of|sort of|so|even|only|simply|very|personally|especially|finally|then|now|mostly|mainly|much|quite|pretty|too))+) "
)
_BEHIND = regex(
    r",? (?:that|which|who|whom|where|when|while|because|since|so|and|but|though|although|before|after|looking|hoping|trying|making"
    r"|giving|feeling|being|having|leaving|helping|showing|beating|thinking|knowing|seeing|to (?:find|see|get|help|make"
    r"|learn|feel|be|know|show|give|keep|do|have))\b|,? -{1,2} |, ",
)
"""Where a deed ends and a reason, an aside or another clause begins."""
_SAYS_WHAT = regex(
    r"\b(?:and|but|or|then) \w+$|\b(?:found|noticed|realised|realized|said|heard|told \w+|agreed|decided|got the chance)$"
)
"""A cut that parts a verb from what it is about."""
_NAMES = regex(r"(?<=[ \"'$(])(?:(?!I\b)[A-Z]|\d)")
"""A name or a number: what is left of a clause says little without."""
_MOST_ENDS = 6
"""Places at which a clause may be cut."""
_FOR_NOW = regex(
    r"\b(?:right now|at the moment|these days|lately|currently|for now|this (?:week|month|year))\b", re.IGNORECASE
)
_BY_DEGREES = frozenset({"likes", "prefers", "plays"})
"""Predicates that hold more or less, more or less often, or only at times."""
_PREPOSITIONS = frozenset({"from", "in", "at", "on", "to", "with", "for", "as"})


def english_statement(clause: Clause, turn: TurnText) -> ExtractedStatement | None:
    """What an English clause states about its speaker, or None."""
    if len(clause.text) > MOST_LETTERS:
        return None
    said, correction = opened(clause.text, elided=clause.elided)
    if (hangs := _SUBORDINATE.match(said)) is not None and not _ONLY_SUPPOSED.search(clause.after.strip(" ,-")):
        said = said[hangs.end() :].partition(", ")[0]
    if re.match(r"\W*(?:I|I'm|I've|my|we)\b", clause.after, re.IGNORECASE):
        said = _HERE.sub(r"Call me \g<name>", said)
    said, denied = _not_but(said)
    correction = correction or denied is not None or _CORRECTS.match(clause.before.strip().casefold()) is not None
    timed = LEADING_TIME.match(said)
    if timed is not None:  # "Last month I moved" is read as "I moved", with its time before it
        said = re.sub("^my", "My", said[timed.end() :])
        clause = clause._replace(before=timed["time"])
    for pattern, rule in COMPILED:
        found = pattern.match(said)
        if found is not None:
            trade = rule is DOES and _INTRODUCES.fullmatch(clause.before.strip(" ,.!").replace("’", "'")) is not None
            way = rule._replace(category="identity", loose=True, sharp=False) if trade else rule
            whole = _stated(clause, turn, found, way, correction, denied)
            return whole or _without_its_end(clause, turn, found, way)
    return None


def _without_its_end(
    clause: Clause, turn: TurnText, found: re.Match[str], rule: ExtractionRule
) -> ExtractedStatement | None:
    """What happened, where only what is said behind it points outside or says nothing: "I left my job to find something new"."""
    if (rule.category, rule.kind) != ("fact", "fact"):
        return None
    rule = rule._replace(loose=False)
    ends = [one.start() for one in _BEHIND.finditer(found.string)]
    for end in reversed(ends[:_MOST_ENDS]):
        left = found.string[:end]
        if _SAYS_WHAT.search(left) or not (_NAMES.search(left) or TIMED.search(left)):
            continue
        short = found.re.match(left)
        if short is not None and (made := _stated(clause, turn, short, rule, False, None)) is not None:
            return made
    return None


_MADE = regex(
    r"^(?:(?:my )?(?:\w+ )?goal is (?:to )?)?(?:(?:have|has|already|also|just|now|successfully|planning|planned|decided"
    r"|targeting|trying|studying|finalizing|able) )*(?:to )?"
    r"(?:add|implement|defin|test|set up|configur|fix|updat|refactor|encounter|complet|finish|install|creat|us|estimat"
    r"|identif|deploy"
    r"|optimi[sz]|reduc|improv|integrat|writ|wrote|writt|mad|make|cover|build|built|chang|remov|renam|link|includ|stor|handl|increas"
    r"|a response|minif|compress|host|enabl|validat|log|measur|run|ran|achiev|got|hit|reach|tried|tag|modulari[sz]|go with"
    r"|plan|review|basic|a simple|the|push|merg|split|clean|cho[so])\w*\b",
    re.IGNORECASE,
)
_PROGRAM = regex(
    r"\b(?:APIs?|endpoints?|database|schemas?|SQL\w*|CSS|HTML\d?|JavaScript|JS|JSON|YAML|MVC|MVP|ORM|CRUD|ARIA|UUIDs?|DOM|SEO|CDN"
    r"|Flask\S*|Django|React\S*|Bootstrap|Sass|npm|Webpack|Docker\w*|Redis|GitHub|pytest|functions?|modules?|(?:unit"
    r"|integration) tests?"
    r"|error ?handl\w+|requests?|routes?|quer(?:y|ies)|index(?:es|ing)|hash(?:ing|ed)|session management|cookies?|tokens?"
    r"|components?|nav ?bar|repo(?:sitory)?|deploy\w*|migrations?|cach(?:e|ing)|middleware|authentication|password\w*"
    r"|accessibility|lazy.?load\w*|stylesheets?|back-?end|front-?end|server-side|response times?|load times?|(?<!coupon"
    r" )(?<!promo )(?<!zip )code|codebase|bugs?"
    r"|templates?|form for|app into|dependenc(?:y|ies)|configuration|maintainability|\w+\.(?:com|security)|attributes?"
    r"|breakpoints?|viewport|keyboard navigation|WebP|Lighthouse|ESLint|selectors?|layout|grid|web ?page"
    r"|\w+Error|constraint|port \d+|HTTPS|SSL|TLS|JWT|OAuth|pull requests?|branch(?:es)?|pipelines?|linting|bundle size"
    r"|microservices|monolith|my app to use|alt text|meta (?:tags?|descriptions?)"
    r"|form validation|servers?|release v\d|v?\d+\.\d+\.\d+)\b|\b[a-z]+_[a-z_]+\b|-[a-z]+:"
)
_DATED = regex(rf"{DAY}|(?i:\b(?:{MONTH})\b)")


def of_a_program(thing: str) -> bool:
    """Whether a thing done, or planned, is work on a program without a day: such work is no fact about the person."""
    return _MADE.match(thing) is not None and _PROGRAM.search(thing) is not None and _DATED.search(thing) is None


_ASKS_FOR_HELP = regex(
    r"\b(?:(?:can|could|would|will) you|(?<!to )help me|how (?:can|do|should|could|might|would) (?:I|we)|should I"
    r"|what(?:'s| is| are) the"
    r"|what (?:should|do) (?:I|you)|(?:I'm|I am|I was) (?:just |now |also |kinda |still )*(?:not sure|unsure|wondering"
    r"|curious|stuck"
    r"|having trouble|looking for)|(?:any|some) (?:tips|advice|suggestions|recommendations)|is (?:it|that|this) (?:ok|okay|a good"
    r"|worth|enough))\b",
    re.IGNORECASE,
)
_TRIES = regex(r"I(?:'m| am) (?:\w+ )?trying to\b|I want to\b(?!.*[$£€])")
_PARTICULAR = regex(r"[A-Z\d$£€\"“]|\bnever\b")


def of_a_task(said: str, around: str, *, at_it: bool) -> bool:
    """Whether it is what somebody is asked to help with: it names nobody, nothing and no number, or is tried on no day.

    `at_it`: it says what one is at.
    """
    general = _PARTICULAR.search(said, 1) is None or (_TRIES.match(said) is not None and _DATED.search(said) is None)
    return (at_it or general) and _ASKS_FOR_HELP.search(around) is not None


def opened(text: str, *, elided: bool) -> tuple[str, bool]:
    """The clause from its subject on, and whether it takes back something said before; `elided`: one that is left out is I."""
    said = " ".join(text.replace("’", "'").replace("‘", "'").split()).strip(" ,.!?;:)(-–—*#>")
    led = said.casefold()
    correction = _CORRECTS.match(led) is not None
    said = _MEANT.sub("", said)
    said = with_subject(said) if elided else said
    for _ in range(2):
        said = _FILLERS.sub("", said)
    said = turned(re.sub(r"^one of (?:my|our|the) \w+, ([A-Z]\w+), ", r"\1 ", _FACTIVE.sub("", said)))
    said = re.sub(r"^(?:my|we)\b", lambda found: found[0].capitalize(), re.sub(r"^i\b", "I", said))
    return _MILD.sub(r"\1 ", _ADDED.sub("", said)), correction


def _stated(
    clause: Clause, turn: TurnText, found: re.Match[str], rule: ExtractionRule, correction: bool, denied: str | None
) -> ExtractedStatement | None:
    said, groups = _of_age(found) if rule.predicate == "is aged" else found.string, found.groupdict()
    thing = (groups.get("object") or groups.get("object2") or "").strip(" ,.")
    if not says_something(said, thing, rule, timed=bool(_led_by(clause))):
        return None
    if rule.category in ("fact", "temporary") and (
        of_a_program(thing)
        or (
            (rule.kind == "plan" or not said.startswith("My "))
            and of_a_task(said, clause.around, at_it=rule.confidence == AT_IT)
        )
    ):
        return None
    ended = bool(re.search(r"\b(?:no longer|any ?more|any longer|stopped|quit|given up|gave up)\b", said))
    name = turn.name or "User"
    content = _within_its_time(clause, third_person(said, name)) + _dated(said, turn, rule)
    category = rule.category
    if category == "stable_preference" and _FOR_NOW.search(clause.text):
        category = "short_term_preference"
    asserted = clause.asserted and not unsure(said)
    polarity_of = -1 if _DENIES.search(said) else 1
    twice = bool(re.search(r"\b(?:not|don't|never) (?:really )?(?:hate|dislike|detest|mind)\b", said))
    elsewhen = rule.predicate == "is aged" and of_another_time(content, turn.year)
    triple = None if twice or denied or elsewhen else _triple(said, groups, thing, rule, name)
    ends = third_person(denied, name) if denied else f"{name} likes {in_third(thing)}" if ended else None
    return ExtractedStatement(content, category, rule.kind, 1 if twice else polarity_of, asserted, rule.confidence,
                     (clause.start, clause.end), (), triple, correction, ends)  # fmt: skip


def _of_age(found: re.Match[str]) -> str:
    """The clause, without the words behind the age if they say nothing by themselves: "I'm 44 and new to this"."""
    said = found[0] if VAGUE.search(found.string[found.end() :]) else found.string
    return f"{said} years old" if found["object"] and said.endswith(found["object"]) else said


def _within_its_time(clause: Clause, content: str) -> str:
    """The content with the time that its sentence puts before or after the clause: "In 2010, Ann moved to Boston"."""
    when, until = in_third(_led_by(clause) or set_in(clause.before)), in_third(limited_to(clause.after))
    return ", ".join(part for part in (f"{when[:1].upper()}{when[1:]}", content, until) if part)


def _led_by(clause: Clause) -> str:
    """The time that stands before the clause; else an empty string."""
    before = clause.before.strip(" ,.")
    found = LEADING_TIME.match(f"{before}, I")
    return found["time"] if found is not None and found.end("time") == len(before) else ""


def _not_but(said: str) -> tuple[str, str | None]:
    """ "not X but Y" as Y, with what is denied; else the clause and None."""
    found = re.search(r"(?:\bdo(?:es)?n't|\bnot) (.+?),? but(?: rather)? (.+)$", said)
    if found is None or found[1].startswith(("only", "just")):
        return said, None
    start, first, second = said[: found.start()], found[1].split(" ", 1)[0], found[2]
    lead = second.split(" ", 1)[0]
    if (first in VERBS and lead not in VERBS) or (first in _PREPOSITIONS and lead not in _PREPOSITIONS):
        second = f"{first} {second}"
    return f"{start}{second}", f"{start}{found[1]}"


def _dated(said: str, turn: TurnText, rule: ExtractionRule) -> str:
    """The day from which "yesterday" and an age are to be read; what passes says little without it, what lasts needs none."""
    passing = rule.category in ("fact", "temporary", "short_term_preference")
    ages = (rule.predicate == "is aged" and not of_another_time(said, turn.year)) or "-year-old" in said
    return f" (said on {turn.day})" if turn.day and (passing or ages or speaks_from_its_day(said)) else ""


def _triple(
    said: str, groups: dict[str, str | None], thing: str, rule: ExtractionRule, name: str
) -> StatedTriple | None:
    if rule.predicate is None:
        return english_fact(said, name)
    if not thing or len(thing) > 120:
        return None
    slot = groups.get("slot")
    if slot is not None and slot.startswith(("one", "thing", "part")):
        return None
    predicate = f"favourite {slot}" if slot else _works_as(said) or rule.predicate
    if predicate == "has":
        thing = thing.partition(",")[0]
    if predicate not in _BY_DEGREES:
        return StatedTriple(name, predicate, in_third(thing), rule.dislikes)
    # What is denied under a condition is not denied without it: then the condition stays with the thing.
    thing, condition = (thing, None) if rule.dislikes else _parted(_tidied(thing))
    return StatedTriple(name, predicate, in_third(_tidied(thing)), rule.dislikes, _degree_of(said), condition)
