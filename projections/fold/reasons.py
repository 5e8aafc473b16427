"""Codes of the sentences that say why: what a fold did, what goes with a deletion, what no event undoes, why nobody can say.

The change log keeps sentences, and its chain holds them as they are; whoever has words of his own for them, in another language,
goes by code and values. One table tells both, and a test holds every sentence of the folds to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple


class ReasonTold(NamedTuple):
    """A sentence by its code, with what stands in its places; of an unknown sentence None and nothing."""

    code: str | None
    values: Mapping[str, str]

    def told(self) -> dict[str, str] | None:
        """The values as an answer tells them: null beside no code."""
        return None if self.code is None else dict(self.values)


REASONS: Mapping[str, str] = {
    # What an event did.
    "created": "a new memory",
    "mentioned": "mentioned",
    "mentioned_often": "mentioned often within a day",
    "said_again": "the user said it again",
    "mentioned_queue_full": "mentioned; {most} changes of it wait for a person already, the most",
    "reaffirmation_waits": "the user negated it: that it holds again waits for him",
    "revised": "a new version of the content",
    "level": "level {level}",
    "deleted_by_user": "user_delete",
    "deleted_by_cleanup": "auto_cleanup",
    "deletion_undone": "a deletion was undone",
    "purged_in_time": "kept long enough after its deletion",
    "erased_for_good": "its words were erased for good",
    "negated": "negated, {resolution}",
    "negated_before_said": "negated earlier than the user last said it",
    "merged_from": "merged from {count} memories",
    "merged_into": "merged into {memory}",
    "came_back": "its sources came back",
    "back_from": "back from {memory}",
    "outcome_cooling": "outcome {outcome}; no boost: within the cool-down of the last",
    "outcome_limited": "outcome {outcome}; no boost: the limit of a day is reached",
    "outcome": "outcome {outcome}",
    "graded": "graded {grade}",
    "tier_without_ground": "tier {tier}; without a ground to stand in every prompt",
    "tier": "tier {tier}",
    "kept_tier": "a reviewer kept its tier",
    "kept": "a reviewer kept it",
    "kept_back_to_threshold": "a reviewer kept it: importance back to the review threshold",
    "kept_tier_by": "the {actor} kept its tier",
    "kept_by_back_to_threshold": "the {actor} kept it: importance back to the review threshold",
    "kept_by": "the {actor} kept it",
    "sensitivity_by_hand": "sensitivity {level}, set by hand (it was {before})",
    "sensitivity_by_rules": "sensitivity {level}, found by rules {rules} (it was {before})",
    "possible_conflict": "possible conflict",
    "linked": "link {link}",
    "backs_triple": "backs a triple",
    "backs_triple_no_more": "no longer backs a triple",
    "ground_changed": "what it rests on has changed",
    "ground_same": "what it rests on is as it was told",
    "waits": "waits for a person: {trust}, and it is {known}",
    "accepted": "accepted",
    "edited": "edited",
    "rejected": "rejected",
    "value_rejected": "what it says is rejected",
    "value_readmitted": "what it says holds after all",
    "source_withheld": "what a source says is withheld",
    "source_counts": "what a source says counts again",
    "revealed": "its text was asked for: {by}, {face}",
    "named": "named by {event}",
    "profile": "the owner's profile from here on",
    "parameters": "the owner's parameters from here on",
    "parameters_but_promotion": (
        "the owner's parameters from here on, but for those of promotion: only an operator changes these"
    ),
    "alike": "two words are alike in the owner's searches from here on",
    "not_alike": "two words are no synonyms in the owner's searches from here on",
    "read": "{count} turns were read by {by}",
    "dropped": "{position} was parked and is dropped, by {actor}",
    # Why an event did nothing.
    "unknown_memory": "unknown memory",
    "purged_before": "purged: only a tombstone is left",
    "merged_away_mention": "merged away: its merge stands for it; the mention goes to {memory}",
    "merged_away": "merged away: its merge stands for it",
    "exists": "this id exists already",
    "deleted_before": "deleted already",
    "due_no_longer": "no longer due: it was used since that was decided",
    "never_compressed": "never compressed: identity, core or sensitive",
    "not_deleted": "not deleted",
    "not_due": "not due yet",
    "deleted_later": "not due: it was deleted later than this purge supposes",
    "waits_for_person": "waits for a person",
    "merge_id_taken": "{memory} exists already: a merge needs a new id",
    "merge_source_deleted": "source {memory} is deleted: restore it first",
    "merge_source_unknown": "source {memory}: unknown memory",
    "merge_source_purged": "source {memory}: purged: only a tombstone is left",
    "merge_source_merged": "source {memory}: merged away: its merge stands for it",
    "merge_of_one": "a merge needs two sources",
    "not_merged": "not merged",
    "unmerged_before": "un-merged already",
    "merge_deleted": "deleted: restore it first",
    "linked_to_itself": "a link to itself",
    "other_not_linked": "the other memory of the link cannot be linked",
    "older_than_backed": "said earlier than what the memory backs already",
    "older_than_triples": "older than the {most} triples that it backs",
    "backs_not": "does not back this triple",
    "asserted_again": "the triple was asserted again later than this",
    "sensitive_already": "as sensitive already: {level}",
    "rests_not_on_that": "it does not rest on that",
    "newer_ground": "something newer is known of that ground",
    "newer_value": "something newer is known of that value",
    "newer_source": "something newer is known of that source",
    "readmitted_before": "it was readmitted already",
    "names_no_source": "it names no source",
    "rejected_by": "rejected by {position}",
    "queue_full": "{most} changes of it wait for a person already, the most",
    "owner_queue_full": "{most} things wait for a person already, the most of one owner",
    "person_answers": "{trust}: what waits for a person, a person answers",
    "nothing_waits": "nothing of that id waits",
    "nothing_parked": "nothing is parked there",
    "one_word_twice": "there are no two different words",
    "alike_already": "the two words are as alike as that already",
    "most_pairs": "an owner has at most {most} pairs of synonyms: take one out with a similarity of 0",
    "most_silenced": "an owner keeps at most {most} pairs as no synonyms",
    "most_turns": "{most} turns are known to say it already, the most: this one is not withheld",
    "most_sources": "{most} sources were set aside or brought back already, the most of one owner",
    "most_values": "{most} values are rejected or readmitted already, the most of one owner",
    # What goes with a deletion or comes back with one that is undone, and what stays.
    "is_deleted_at": "memory {memory} was deleted already, {at}",
    "is_spared": "memory {memory} is of tier {tier}: core and system memories are left alone",
    "is_system": "memory {memory} is of tier system: system memories are left alone",
    "is_verified": "memory {memory} is verified: name it to delete it",
    "deletes_too_many": "{count} memories would go with it, more than one request holds: delete some of them first",
    "restores_too_many": "{count} memories would come back with it, more than one request holds: restore it by itself",
    "is_not_deleted": "memory {memory} is not deleted",
    "says_the_same": "it says what {memory} says",
    "merged_and_more": "merged into {memory}, which says more than that: name it to delete it",
    "merged_and_says_it": "it was merged from {memory}, and still says it",
    "sums_up_turn": "it sums up turn {turn} among others",
    "sums_up": "it sums up {memory}",
    "made_of_turn": "made of turn {turn}",
    "says_only_turn": "it says what only turn {turn} said",
    "merged_comes_apart": "merged from {memory}: what else it was merged from comes back",
    "made_anew": "{memory} has been made anew of its turns",
    "went_with_stands": "it went with {memory}; what it was merged from stands by itself, and stays so",
    "went_with": "it went with {memory}, or was made of it",
    # What no event undoes.
    "undo_negation": (
        "cannot be undone by an event: a mention by the user takes a negation back, and counts as a mention"
    ),
    "undo_count": "cannot be undone by an event: what was counted stays counted",
    "undo_grade": "cannot be undone by an event: a grade stays in the schedule",
    "undo_unmerge": "cannot be undone by an event: a merge that is made again is another memory",
    "undo_link": "cannot be undone by an event: an association or a flag is taken away by nothing",
    "undo_level": "cannot be undone by an event: a mention makes a level full again, and counts as a mention",
    "undo_tier": "cannot be undone by an event: a tier is changed by an operator (`promote --to`)",
    "undo_kept": "cannot be undone by an event: that a reviewer kept it stays known",
    "undo_purge": "cannot be undone by an event: what is purged is gone",
    "undo_sensitivity": "cannot be undone by an event: a level is set by a person (`sensitivity`)",
    "undo_ground": "cannot be undone by an event: a later report says what it is now (`ground`)",
    "undo_answer": "cannot be undone by an event: an answer stays given",
    "undo_turn": (
        "cannot be undone by an event: a turn that was recorded alone is withheld only by setting its session aside"
    ),
    "undo_tool": "cannot be undone by an event: what a tool found is in no memory, and shows for one turn alone",
    "undo_reveal": "cannot be undone by an event: that a secret was looked at stays recorded",
    "undo_read": "cannot be undone by an event: what was read is not read again",
    "undo_key": "cannot be undone by an event: a key is revoked (`key revoke`)",
    "undo_revocation": "cannot be undone by an event: a key that was revoked stays so; another is made",
    "undo_grants": "cannot be undone by an event: grants are set anew (`grant`)",
    "undo_look": "cannot be undone by an event: that somebody looked stays recorded",
    "undo_erasure": "cannot be undone by an event: a key that was destroyed is nowhere",
    "undo_words": "cannot be undone by an event: words that were erased are nowhere",
    "undo_erased": "cannot be undone by an event: what is erased is gone for good",
    "undo_dropped": "cannot be undone by an event: what was dropped is not folded",
    "undo_spared": (
        "cannot be undone by an event: core and system memories are left alone where their own events are not named"
    ),
    "undo_purged_since": "cannot be undone by an event: it is purged since: only a tombstone is left",
    "undo_alike_to_all": (
        "cannot be undone by an event: the two words are alike to all, and an owner's word stays beside that"
    ),
    # Whether a block is as it was.
    "block_same": "the digest of the text agrees with what was recorded when it was handed out",
    "block_untold": (
        "the log does not say how this block was made: it is from before that was recorded, and is made again by the defaults"
    ),
    "block_no_key": "the owner had no secret when it was recorded, so there is no digest to compare with",
    "block_not_there": "the position that it tells is not in this owner's log",
    "block_lost_words": "the log does not hold what was asked, and what is told of tool results goes by that",
    "block_other_words": "it was asked with other words than the turn's, and what is told of tool results goes by those",
    "block_otherwise": "rules, settings or what is hidden today changed since, or something was folded while it was made",
    "block_withheld_else_same": "not told today: {memory}; the digest agrees once these are put back",
    "block_withheld": "not told today: {memory}",
    # Why there is no estimate of room.
    "room_young_log": "the log is too young to tell how fast it grows",
    "room_nothing_recorded": "nothing was recorded in the time that was measured",
    "room_long": "more than a hundred years at this growth",
    "room_no_maxmemory": "Redis has no maxmemory",
    "room_untold_memory": "Redis does not tell what memory it uses",
    "room_elsewhere": "the store's Redis is not this machine's own: its disk cannot be seen from here",
    "room_no_file": "Redis writes no append-only file",
}
"""Code -> the sentence; `{name}` is a place, filled by one word or number, of `by` and `face` by several."""

_PLAIN = {sentence: code for code, sentence in REASONS.items() if "{" not in sentence}
_PLACE = re.compile(r"\\\{(\w+)\\\}")
_LOOSE = frozenset({"memory", "turn", "by", "face", "rules"})
"""Places that may be filled by any text: ids and names."""
NOBODYS = ReasonTold(None, {})
"""Of a sentence that is none of these."""


def _pattern(sentence: str) -> re.Pattern[str]:
    def place(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{'.{1,600}?' if found[1] in _LOOSE else '[^ ;]{1,80}'})"

    return re.compile(_PLACE.sub(place, re.escape(sentence)), re.DOTALL)


_PATTERNS = tuple(
    (code, _pattern(REASONS[code]))
    for code in sorted(REASONS, key=lambda one: -len(REASONS[one]))
    if "{" in REASONS[code]
)
"""The longest first: what says more begins as what says less does."""


@lru_cache(4096)
def reason_told(sentence: str) -> ReasonTold:
    """The code of a sentence and the values in its places."""
    if (plain := _PLAIN.get(sentence)) is not None:
        return ReasonTold(plain, {})
    for code, pattern in _PATTERNS:
        if (found := pattern.fullmatch(sentence)) is not None:
            return ReasonTold(code, found.groupdict())
    return NOBODYS
