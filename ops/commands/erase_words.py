"""`engramlog erase OWNER ID ...`: the words of single memories. What it tells people is in `erase_shown`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from api.cli.app import err, progress
from events.errors import InputError, NotConfirmed
from ops.commands.erase_shown import render_words_plan

if TYPE_CHECKING:
    from ops.erasing.words import WordsCertificate
    from ops.settings import Settings
    from ops.store import OpenStore


class AskedWords(NamedTuple):
    """What is wanted."""

    owner: str
    ids: tuple[str, ...]
    ground: Any
    reason: str
    yes: bool
    json: bool
    begun: bool = False
    """Whether an erasure of the same was begun before."""


def erase_words(store: OpenStore, settings: Settings, asked: AskedWords) -> dict[str, Any]:
    """Tell what would be done, ask, do it, and search for what may be left; JSON-ready."""
    import msgspec

    from ops.commands.notices import patient
    from ops.erasing.words import carry_out_words
    from ops.erasing.words_told import WordsPlan, words_told_beforehand
    from ops.wiring import application_on

    plan = WordsPlan(asked.owner, asked.ids, asked.ground, asked.reason, asked.begun)
    with application_on(store, settings, stays=False, on_wait=patient(err)) as application:
        told = words_told_beforehand(application, store, plan)
        if not asked.json:
            render_words_plan(told)
        if not asked.yes:
            plan = plan._replace(ids=_agreed(told, asked))
        with progress("erase", asked.json, long=0) as advance:
            done: WordsCertificate = carry_out_words(
                application, store, settings, plan, on_progress=advance, on_wait=patient(err)
            )
    found: dict[str, Any] = msgspec.to_builtins(done)
    return found


def _agreed(told: dict[str, Any], asked: AskedWords) -> tuple[str, ...]:
    """What a person agrees to have erased: what is named, and of what says it elsewhere that which he names too."""
    if asked.json or not sys.stdin.isatty():
        raise NotConfirmed(told)
    others = _others(told)
    more: tuple[str, ...] = ()
    if others:
        answer = typer.prompt(
            "Ids of those of them that are to go too, with spaces between; nothing for none", default="", err=True
        )
        more = _ids(answer, others)
    if typer.prompt("There is no way back. Type the owner's name to erase these words", err=True) != asked.owner:
        raise typer.Exit(1)
    return tuple(dict.fromkeys((*asked.ids, *more)))


def _others(told: dict[str, Any]) -> list[str]:
    elsewhere = told["elsewhere"]
    too = [one["of"] for one in elsewhere["says_it_too"] if one["of"]]
    return list(dict.fromkeys([*too, *elsewhere["of_the_same_turns"], *elsewhere["corrections"]]))


def _ids(answer: str, others: Sequence[str]) -> tuple[str, ...]:
    ids = answer.replace(",", " ").split()
    if wrong := [one for one in ids if one not in others]:
        raise InputError(
            f"ids: got {wrong[0][:80]!r}; allowed: some of those that were told", field="ids", got=wrong[0][:80]
        )
    return tuple(ids)
