"""Word lists of the English rules, as pieces of regular expressions."""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.times.names import MONTH, WEEKDAY

WHEN = "(?:(?:recently|already|currently|always|usually|often|sometimes|still|now|first|once|normally|generally|officially) )?"
NOUN = r"(?:an? |the |two |three |four |five |\d+ |some |my |our )?"
DONE = (
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
