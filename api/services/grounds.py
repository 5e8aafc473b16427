"""What memories rest on, as producers report it: a digest that something has now, told to every memory that rests on another."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticCustomError

from api.requests.checks import check_limit, check_owner
from api.requests.secrets import masked
from api.services.histories import SCANNED
from api.services.reading import Reader
from api.services.writing import Writer
from api.work.patience import weigh
from events.catalogue import GroundChanged
from events.envelope import AnyEvent
from events.errors import refused
from events.standing import report_objection
from events.vocabulary import DIGEST_RULE, MAX_REQUEST_EVENTS, URI_RULE, check_digest, check_uri
from projections.fold.basis import Standing, standing_on


class Grounds:
    """Takes reports about what one store's memories rest on. Safe for threads."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def report(
        self,
        owner: str,
        uri: str,
        digest: str,
        *,
        limit: int = MAX_REQUEST_EVENTS,
        actor: str = "user",
        occurred_at: str | None = None,
    ) -> dict[str, Any]:
        """This uri has this digest now: an event for each memory that rests on it and was last known with another one.

        Told again it finds nothing to do. At most `limit` memories at once; `left` says how many more there are: report again.
        `newer`: of how many something newer is known already. Raises InputError for what cannot be.
        """
        check_owner(owner)
        _check(uri, digest)
        if problem := report_objection(actor, self._writer.by):
            raise refused(*problem)
        most = check_limit(limit, MAX_REQUEST_EVENTS)
        when = self._writer.when(occurred_at)
        with self._reader.scene(owner) as scene:
            weigh(len(scene.view) // SCANNED)
            found = [one for one in standing_on(scene.view.columns, uri) if one.known != digest]
            position, warning = scene.position, scene.told
        due = [one for one in found if one.since <= when]
        answer: dict[str, Any] = {
            "uri": masked(uri),
            "digest": digest,
            "withheld": [one.memory_id for one in due[:most] if one.digest != digest],
            "back": [one.memory_id for one in due[:most] if one.digest == digest],
            "left": max(len(due) - most, 0),
            "newer": len(found) - len(due),
        }
        if not due:
            return answer | {"owner": owner, "position": position, "changes": []} | warning
        return self._writer.done(
            owner, [self._event(owner, one, uri, digest, when, actor) for one in due[:most]], answer
        )

    def _event(self, owner: str, one: Standing, uri: str, digest: str, when: int, actor: str) -> AnyEvent:
        data: Any = GroundChanged(memory_id=one.memory_id, uri=uri, digest=digest)
        return self._writer.event(data, owner, when, actor)


def _check(uri: str, digest: str) -> None:
    try:
        check_uri(uri)
    except PydanticCustomError:
        raise refused("uri", masked(uri[:80]), URI_RULE) from None
    try:
        check_digest(digest)
    except PydanticCustomError:
        raise refused("digest", digest[:80], DIGEST_RULE) from None
