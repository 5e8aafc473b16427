"""The shape of an owner's talk at a moment of the past, made out of the present one: most turns stand where they stood. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engramlog_server.projections.index.conversation_index import (
    NONE,
    KeptConversation,
    Rows,
    place_of,
    role_of,
    speaker_of,
)
from engramlog_server.projections.index.postings import has_text
from engramlog_server.projections.memory.record import Memory

_BY_ROW = KeptConversation._fields[2:]


def talk_then(now: KeptConversation, rows: Rows, others: Mapping[int, Memory], worded: Rows) -> KeptConversation:
    """What `ConversationIndex.of_kept` makes the talk of.

    `rows`: by row of the past the one of today, NONE where there is none. `others`: the records of the rows that do not stand as
    today; of these the `worded` have the same words, so that their traits are known too.
    """
    speakers, sessions = ({name: at for at, name in enumerate(names)} for names in (now.speakers, now.sessions))
    then = now._replace(**{name: getattr(now, name)[rows] for name in _BY_ROW})
    changed = np.array(list(others), dtype=np.int64)
    unread = np.setdiff1d(changed, worded)
    then.traits[unread] = then.known[unread] = 0
    then.member[changed], then.session[changed] = False, NONE
    said = [(row, one, place_of(one)) for row, one in others.items() if has_text(one)]
    rows_said = [row for row, _, _ in said]
    then.member[rows_said] = True
    then.role[rows_said] = [role_of(one) for _, one, _ in said]
    then.speaker[rows_said] = [speakers.setdefault(speaker_of(one), len(speakers)) for _, one, _ in said]
    then.session[rows_said] = [NONE if at is None else sessions.setdefault(at, len(sessions)) for _, _, at in said]
    return then._replace(speakers=list(speakers), sessions=list(sessions))
