"""English sentences cut into clauses that may state one thing each, and whether each is asserted. Word lists, no model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engramlog_server.projections.language.extraction.shape import Clause
from engramlog_server.projections.language.extraction.third_person import VERBS, singular
from engramlog_server.projections.language.patterns import regex

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
MOST_AROUND = 1_000
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
            around = f"{hushed[start:end]} {following}"[:MOST_AROUND]
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
