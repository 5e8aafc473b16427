"""Whether what somebody states was rejected by its owner: asked before anything follows from it. Pure.

The fold decides, and would pass it over. But a statement may replace another: "I live in Lisbon" ends "I live in Porto".
So what is rejected ends nothing either.
"""

from __future__ import annotations

from typing import Literal

from engramlog_server.events.catalogue import FactAsserted
from engramlog_server.events.entry import SECRET_BYTES, digest
from engramlog_server.projections.language.extraction.shape import StatedTriple
from engramlog_server.projections.language.statements import statement, statements_in
from engramlog_server.projections.memory.rejection import refusing
from engramlog_server.projections.views.view import OwnerView

Rejected = Literal["words", "triple"]


def rejected_by(view: OwnerView, content: str, triple: StatedTriple | None, said_at: int) -> Rejected | None:
    """By what nothing follows from a statement of this time (microseconds since 1970); None where something may."""
    rejections, secret = view.state.rejections, view.naming.secret
    if not rejections or len(secret) != SECRET_BYTES:
        return None
    if refusing(rejections, (digest(secret, statement(content)),), said_at) is not None:
        return "words"
    if triple is None:
        return None
    subject, predicate, thing, negation, _, condition = triple
    fact = FactAsserted(
        subject=subject, predicate=predicate, object=thing, negation=negation, condition=condition, evidence=("m",)
    )
    found = refusing(rejections, (digest(secret, one) for one in statements_in(fact)), said_at)
    return None if found is None else "triple"
