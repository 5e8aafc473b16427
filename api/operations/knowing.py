"""What is known: topics, their map, associations, triples, synonyms."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import AT, LINES, MODE, OFFSET, PLACE, SAID, limit
from engramlog_server.api.operations.definition import (
    MEMORY,
    OF_MEMORY,
    OWNER,
    Operation,
    Option,
    Parameter,
    needed,
    text,
    told,
)
from engramlog_server.api.work.patience import Work
from engramlog_server.projections.choices import LEAST_WEIGHT, MOST_NODES

_INSTANT = (*LINES, AT)
TOPIC = needed("topic", "The topic, in any language.", "咖啡", "the deployment", option=Option(argument=True))
ASSESS = Operation(
    name="assess",
    help="Assess what is known about a topic: score, advice, best evidence and figures.",
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
    help="Map what is known about a topic: best results, associations and clusters.",
    call="knower.map",
    needs=needs.READ,
    work=Work.HEAVY,
    verb="map",
    path=f"{OWNER}/map",
    question=(
        text(
            "topic",
            "The topic, in any language. [default: the strongest memories]",
            "咖啡",
            "the deployment",
            option=Option(argument=True, metavar="[TOPIC]"),
        ),
        Parameter("depth", int, "Steps from the matches, 1 to 4.", 2, (2,)),
        Parameter("least", float, "Least weight of links to follow.", LEAST_WEIGHT, (0.3,)),
        Parameter("limit", int, "Most nodes, 1 to 1000.", MOST_NODES, (50,)),
        MODE,
        *_INSTANT,
    ),
    answer="KnowledgeMap",
    statuses=OF_MEMORY,
    more="Edges show why: associations, shared keywords, and similar meaning if there is an embedder.",
    example="Example: `engramlog map alice coffee --out coffee.svg` or `engramlog map alice`",
)
ASSOCIATIONS = Operation(
    name="associations",
    help="Show a memory's associations as a tree: keywords, task, time, links, recalled together.",
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
    help="List triples with the memories that back them. Leaves no trace.",
    call="facts.facts",
    needs=needs.READ,
    verb="facts",
    path=f"{OWNER}/facts",
    question=(text("about", "Only triples with this subject or object.", "coffee", "拉面"), limit(50), OFFSET, *PLACE),
    answer="FactsKnown",
    more="A triple exists while a memory that is not deleted or purged backs it. Secret memories back no shown triple.",
    example="Example: `engramlog facts alice` or `engramlog facts alice --about 拉面`",
    folds=True,
)
SYNONYMS = Operation(
    name="synonyms",
    command="List an owner's synonyms; with two words, define a pair.",
    help="The owner's synonyms, and the words that a search for a word uses. Leaves no trace.",
    call="synonyms.synonyms",
    needs=needs.OF_THE_LOG,
    verb="synonyms",
    path=f"{OWNER}/synonyms",
    question=(
        text("of", "Show the words that a search for this word uses, also built-in synonyms.", "coffee", "咖啡"),
        *PLACE,
    ),
    answer="SynonymsKnown",
    example="Example: `engramlog synonyms alice` or `engramlog synonyms alice --of coffee`",
    folds=True,
)
SYNONYM = Operation(
    name="synonym",
    help="Define a synonym for this owner's searches, at most 256 pairs; similarity 0 removes one.",
    endpoint="define",
    call="synonyms.define",
    needs=needs.CORRECTS,
    verb="define_synonym",
    path=f"{OWNER}/synonyms",
    title="Define a synonym",
    question=(
        needed("word", "A word or phrase of at most 100 characters.", "coffee", option=Option(argument=True)),
        needed("synonym", "The synonym.", "咖啡", option=Option(argument=True, metavar="SYNONYM")),
        Parameter("similarity", float, "Similarity, 0 to 1; 0 removes the pair.", 0.8, (0.9,)),
        *SAID,
    ),
    body=told(
        "Defining",
        "Two words that mean the same.",
        pair=("In two languages", {"word": "coffee", "synonym": "咖啡", "similarity": 0.9}),
    ),
    answer="SynonymSaid",
    example="Example: `engramlog synonyms alice coffee 咖啡 --similarity 0.9`",
)
