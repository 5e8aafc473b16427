"""How much of each class of work a process takes, as the settings say."""

from __future__ import annotations

from api.work.admission import AdmissionLimits
from api.work.buckets import Rates
from ops.settings import Settings

KEY_BYTES = 8.0 * 1024 * 1024
"""Bytes a second from and to one principal with keys."""
KEY_CPU = 2.0
"""Seconds of CPU a second for the requests of one principal with keys."""


def admission_limits(settings: Settings) -> AdmissionLimits:
    """The limits of the lanes."""
    return AdmissionLimits(heavy_seconds=settings.heavy_seconds)


def key_rates(settings: Settings) -> Rates:
    """What one key may take."""
    return Rates(settings.key_requests, KEY_BYTES, KEY_CPU) if settings.key_requests else Rates()
