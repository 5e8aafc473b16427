"""What the OpenAPI document says beyond what FastAPI finds: the shape of problems, and how large each body may be."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from api.http.answer import ProblemShape, problems
from api.http.limits import DEPTH, limit_of

OF_BODIES = (408, 413, 415)
"""What any body may be answered with."""


def describe(app: FastAPI) -> None:
    """Let `app` tell it in its document."""
    made = app.openapi

    def described() -> dict[str, Any]:
        document = made()
        schema = ProblemShape.model_json_schema()
        document.setdefault("components", {}).setdefault("schemas", {})["ProblemShape"] = schema
        for path, methods in document["paths"].items():
            for operation in methods.values():
                if "requestBody" in operation:
                    _describe_body(path, operation)
        return document

    app.openapi = described  # type: ignore[method-assign]


def _describe_body(path: str, operation: dict[str, Any]) -> None:
    limit = limit_of(path)
    operation["requestBody"]["description"] = (
        f"At most {limit.size:,} bytes and {limit.most.values:,} JSON values, {DEPTH} levels deep; no Content-Encoding."
    )
    for status, answer in problems(*OF_BODIES).items():
        operation["responses"].setdefault(str(status), answer)
