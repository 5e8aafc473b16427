"""What is known: topics, their map, associations, triples, synonyms."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import AT, LINES, MODE, OFFSET, PLACE, SAID, limit
from engramlog_server.api.operations.definition import (
    MEMORY,
    OF_MEMORY,
    OWNER,
    Body,
    Operation,
    Option,
    Parameter,
    needed,
    text,
)
from engramlog_server.api.work.patience import Work
from engramlog_server.projections.choices import LEAST_WEIGHT, MOST_NODES

_INSTANT = (*LINES, AT)
TOPIC = needed("topic", "What it is about, in any language.", "咖啡", "the deployment", option=Option(argument=True))
ASSESS = Operation(
    name="assess",
    help="How sure are we about a topic? A score, advice, the best evidence, and the numbers behind it.",
    call="knower.assess",
    needs=needs.READ,
    verb="assess",
    path=f"{OWNER}/assess",
    question=(TOPIC, *_INSTANT),
    answer="Assessment",
    statuses=OF_MEMORY,
    example='Example: `engramlog assess alice "the deployment"`',
)
MAP = Operation(
    name="map",
    help="A map of what is known about a topic: the best hits, their associations, and how they cluster.",
    call="knower.map",
    needs=needs.READ,
    work=Work.HEAVY,
    verb="map",
    path=f"{OWNER}/map",
    question=(
        text(
            "topic",
            "What it is about, in any language; without, the strongest of all that is known.",
            "咖啡",
            "the deployment",
            option=Option(argument=True, metavar="[TOPIC]"),
        ),
        Parameter("depth", int, "Steps from what matches the topic, 1 to 4.", 2, (2,)),
        Parameter("least", float, "Links weaker than this are not followed.", LEAST_WEIGHT, (0.3,)),
        Parameter("limit", int, "Nodes at the most, 1 to 1000.", MOST_NODES, (50,)),
        MODE,
        *_INSTANT,
    ),
    answer="KnowledgeMap",
    statuses=OF_MEMORY,
    more="Edges tell why: associations, keywords that both have, nearness of meaning where there is an embedder.",
    example="Example: `engramlog map alice coffee --out coffee.svg` or `engramlog map alice`",
)
ASSOCIATIONS = Operation(
    name="associations",
    help="What a memory is associated with, as a tree: by keywords, task, time, what was told, and being recalled together.",
    call="knower.associations",
    needs=needs.READ,
    verb="associations",
    path=f"{MEMORY}/associations",
    question=(Parameter("depth", int, "Steps, 1 to 4.", 1, (2,)), MODE.but(default="review"), *_INSTANT),
    answer="AssociationTree",
    shown="memories:associated",
    example="Example: `engramlog associations alice coffee --depth 2`",
)
FACTS = Operation(
    name="facts",
    help="What is known as triples, with the memories that are their evidence. Leaves no trace.",
    call="facts.facts",
    needs=needs.READ,
    verb="facts",
    path=f"{OWNER}/facts",
    question=(
        text("about", "Only triples of which this is subject or object.", "coffee", "拉面"),
        limit(50),
        OFFSET,
        *PLACE,
    ),
    answer="FactsKnown",
    more="A triple holds while any memory that is neither deleted nor purged backs it; a secret memory backs nothing that is told.",
    example="Example: `engramlog facts alice` or `engramlog facts alice --about 拉面`",
    folds=True,
)
SYNONYMS = Operation(
    name="synonyms",
    command="An owner's synonyms, and what a search for a word looks for; with two words define a pair.",
    help="The synonyms that an owner defined, and what searches for a word look for. Leaves no trace.",
    call="synonyms.synonyms",
    needs=needs.OF_THE_LOG,
    verb="synonyms",
    path=f"{OWNER}/synonyms",
    question=(text("of", "A word: what it is looked for by, known synonyms too.", "coffee", "咖啡"), *PLACE),
    answer="SynonymsKnown",
    example="Example: `engramlog synonyms alice` or `engramlog synonyms alice --of coffee`",
    folds=True,
)
SYNONYM = Operation(
    name="synonym",
    help="Two words mean the same in this owner's searches from here on. At most 256 pairs; 0 takes one out.",
    endpoint="define",
    call="synonyms.define",
    needs=needs.CORRECTS,
    verb="define_synonym",
    path=f"{OWNER}/synonyms",
    title="Define a synonym",
    question=(
        needed("word", "A word or phrase of at most 100 characters.", "coffee", option=Option(argument=True)),
        needed("synonym", "What it also means.", "咖啡", option=Option(argument=True, metavar="SYNONYM")),
        Parameter("similarity", float, "How alike, 0 to 1; 0 says that they are no synonyms.", 0.8, (0.9,)),
        *SAID,
    ),
    body=Body(
        "Defining",
        "Two words that mean the same.",
        {"pair": {"summary": "In two languages", "value": {"word": "coffee", "synonym": "咖啡", "similarity": 0.9}}},
    ),
    answer="SynonymSaid",
    example="Example: `engramlog synonyms alice coffee 咖啡 --similarity 0.9`",
)
