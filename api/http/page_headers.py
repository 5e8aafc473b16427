"""Headers of every page that this service shows, and of its files: one definition."""

from __future__ import annotations

from collections.abc import Mapping

POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
"""Files of this service alone, nothing inline, no text that becomes markup or code; in nobody's frame."""


def page_headers(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The headers; `more` of the policy is what a page has beyond `POLICY`, or otherwise. In nobody's window, and no referrer."""
    policy = {**POLICY, **(more or {})}
    return {
        "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
