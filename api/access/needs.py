"""What each call of a service needs, and of which owner. What stands in no line of this table nobody with a key may call.

A test finds every service and method that a face calls without a line here, and every line that nothing calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from events.catalogue.access import Looked, Verb

Told = Mapping[str, Any]
"""What a call is told, by the names of its parameters."""
About = Literal["owner", "store", "anybody", "events"]
"""Of whom: an owner; the store as a whole; whoever holds any key; or of each event's owner, which the service asks for itself."""


class Need(NamedTuple):
    """What a call needs."""

    verb: Verb
    about: About = "owner"
    mode: str | None = None
    """A mode that it reads by, whatever it is told."""
    speaks: Callable[[Told], tuple[str, ...]] = lambda _told: ()
    """As which actors it says something, if any."""
    owner: str = "owner"
    """Where the owner is told: a parameter, or a parameter and its attribute (`options.owner`)."""
    also: Callable[[Told], tuple[Verb, ...]] = lambda _told: ()
    """What else it needs, by what it is told."""
    instead: tuple[Verb, ...] = ()
    """Verbs of which any lets do it too."""
    recorded: Looked | None = None
    """As what it is recorded that somebody looked."""


def _actor(told: Told) -> tuple[str, ...]:
    """Whoever is named, or the user."""
    return (str(told.get("actor") or getattr(told.get("by"), "actor", None) or "user"),)


def _of_turns(told: Told) -> tuple[str, ...]:
    return tuple({"user" if one.role == "user" else "assistant" for one in told["turns"]})


def _of_chats(_told: Told) -> tuple[str, ...]:
    """An export of a chat holds both sides."""
    return ("user", "assistant")


READ = Need("read")
SAYS = Need("produce", speaks=_actor)
CORRECTS = Need("correct", speaks=_actor)
DELETES = Need("delete", speaks=_actor)
ANSWERS = Need("review", speaks=_actor)
REPLAYS = Need("replay")
AUDITS = Need("audit")
OPERATES = Need("operate", "store")
AUDITS_ALL = Need("audit", "store")
ADMINISTERS = Need("admin", "store")


def _reveals(told: Told) -> tuple[Verb, ...]:
    return ("reveal",) if told.get("reveal") or getattr(told.get("options"), "reveal", False) else ()


def _exports(told: Told) -> tuple[Verb, ...]:
    """An export of everything, or of what is hidden, is an auditor's."""
    options = told["options"]
    return (*_reveals(told), *(("audit",) if options.everything or options.include else ()))


def _of_the_store(told: Told) -> tuple[Verb, ...]:
    return () if told.get("owner") is not None else ("operate",)


NEEDS: Mapping[str, Need] = {
    "reader.search": READ,
    "reader.list": READ,
    "reader.get": READ._replace(also=_reveals),
    "reader.why": READ,
    "reader.history": READ,
    "reader.provenance": READ,
    "counter.counts": READ,
    "outranking.above": READ,
    "knower.assess": READ,
    "knower.associations": READ,
    "knower.map": READ,
    "facts.facts": READ,
    "synonyms.synonyms": READ,
    "time_lines.times": READ,
    "contexts.context": READ,
    "living.profile": READ,
    "living.health": READ,
    "living.fading": READ,
    "living.review": READ,
    "embeddings.coverage": READ,
    "owner_heads.heads": READ,
    "operator.stats": READ._replace(about="anybody", also=_of_the_store),
    "owners.owners": READ._replace(about="anybody"),
    "records.export": READ._replace(also=_exports, recorded="export"),
    "revealer.get": Need("reveal", speaks=_actor),
    "revealer.export": READ._replace(also=_exports, speaks=_actor, recorded="export"),
    "inbox.page": Need("review"),
    "inbox.accept": ANSWERS,
    "inbox.edit": ANSWERS,
    "inbox.reject": ANSWERS,
    "living.grade": ANSWERS,
    "writer.append": Need("produce", "events"),
    "rememberer.append_judged": Need("produce", "events"),
    "rememberer.add": SAYS,
    "rememberer.add_turns": Need("produce", speaks=_of_turns),
    "writer.mention": SAYS,
    "living.reinforce": SAYS,
    "grounds.report": SAYS,
    "records.take_in_whole": Need("produce", owner="options.owner"),
    "chats.take_in_whole": Need("produce", speaks=_of_chats),
    "extractor.extract": Need("produce"),
    "extractor.rehearse": Need("produce"),
    "episodes.make": Need("produce"),
    "rememberer.edit": CORRECTS,
    "writer.negate": CORRECTS,
    "writer.confirm": CORRECTS,
    "writer.set_sensitivity": CORRECTS,
    "writer.merge": CORRECTS,
    "writer.unmerge": CORRECTS,
    "living.choose": CORRECTS,
    "synonyms.define": CORRECTS,
    "sources.set_aside": CORRECTS,
    "sources.bring_back": CORRECTS,
    "retracter.retract": CORRECTS._replace(also=lambda _told: ("audit",)),
    "deleter.delete_many": DELETES,
    "restorer.restore": DELETES,
    "many_restorer.restore_many": DELETES,
    "cleaner.clean": Need("delete"),
    "replayer.replay": REPLAYS,
    "comparer.compare": REPLAYS,
    "comparer.curves": REPLAYS,
    "differ.diff": REPLAYS,
    "instants.instants": REPLAYS,
    "events.events": AUDITS,
    "events.partition_events": AUDITS_ALL,
    "answers.answers": AUDITS,
    "answers.answer": AUDITS,
    "uses.uses": AUDITS,
    "named_sources.sources": AUDITS,
    "sources.asides": AUDITS,
    "heads.heads": AUDITS_ALL,
    "heads.check": AUDITS_ALL,
    "operator.dead_show": Need("debug", recorded="debug"),
    "operator.dead_retry": Need("operate"),
    "operator.dead_discard": Need("operate", speaks=_actor),
    "operator.dead": OPERATES,
    "operator.status": OPERATES,
    "operator.alarms": OPERATES,
    "operator.clear_alarm": OPERATES,
    "job_queue.jobs": OPERATES,
    "capacities.capacity": OPERATES,
    "model_uses.models": OPERATES,
    "keys.me": READ._replace(about="anybody"),
    "keys.access": AUDITS_ALL._replace(instead=("admin",)),
    "keys.issue": ADMINISTERS,
    "keys.revoke": ADMINISTERS,
    "keys.grant": ADMINISTERS,
    "reads.reads": AUDITS_ALL._replace(instead=("admin",)),
}
