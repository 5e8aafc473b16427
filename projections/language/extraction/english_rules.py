"""The ways in which English states something in the first person: one rule each, tried in order. Word lists, no model."""

from __future__ import annotations

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_words import DAY, DONE, NOUN, WHEN, pets, workers
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH

RULES: tuple[ExtractionRule, ...] = (
    ExtractionRule(
        r"^(?:My (?:full )?name is|I'm called|I am called|I go by|Call me) (?P<object>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})$",
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
        lambda: rf"^(?:I have|I've got|I've) (?P<object>(?!no ){NOUN}(?:[\w-]+ )?{kin.english()}\b.*)$",
        "identity", "fact", 0.85, "has", loose=True),
    ExtractionRule(
        lambda: rf"^(?:I (?:already |still |also |now )?have|I've (?:already )?got|I own|I've) (?P<object>(?!no"
        rf" ){NOUN}(?:[\w-]+ ){{0,2}}{pets()}\b.*)$",
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
        "^I (?:no longer|don't) (?:like|love|enjoy|drink|eat|play|watch|smoke|use) (?P<object>.+?)(?: any ?more| any longer)?$",
        "stable_preference", "user_preference", 0.85, "likes", True, loose=True),
    ExtractionRule(
        "^I (?:hate|dislike|can't stand|can not stand|cannot stand|detest|loathe) (?P<object>.+)$",
        "stable_preference", "user_preference", 0.85, "likes", True, loose=True),
    ExtractionRule(
        f"^I {WHEN}(?:love|like|enjoy|adore) (?P<object>.+)$",
        "stable_preference", "user_preference", 0.8, "likes", loose=True),
    ExtractionRule(f"^I {WHEN}prefer (?P<object>.+)$", "stable_preference", "user_preference", 0.85, "prefers", loose=True),
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
        r"^I(?:'ve| have) (?:also |recently |already |just |now )?never (?:\w+ )(?P<object>.+)$",
        "fact", "fact", 0.75),
    ExtractionRule(
        r"^I (?:also |recently |just |already |finally |once |actually )*got (?P<object>(?!excited|interested|confused|bored|tired"
        r"|used|started|stuck|inspired|distracted|carried)(?:\w+ed|hurt|sick|laid off|burnt)\b.*)$",
        "fact", "fact", 0.7, loose=True),
    ExtractionRule(
        r"^(?P<when>(?:Yesterday|Today|Last \w+|This (?:morning|week|weekend|month|year)|Two \w+ ago|A "
        r"(?:few )?\w+ ago|On \w+ \d+),? )?I (?:also |recently |already |just |once |successfully |first |even "
        f"|finally )*(?P<object>(?!(?:had|got) to ){DONE} .+)$",
        "fact", "fact", 0.7),
    ExtractionRule(
        "^I(?:'m| am) (?:currently |also )?(?P<object>(?:reading|studying|learning|writing|taking|majoring in|enrolled in"
        "|dating) .+)$",
        "temporary", "fact", 0.65),
)  # fmt: skip
COMPILED = tuple((regex(rule.pattern), rule) for rule in RULES)
"""The rules in the order in which they are tried."""
