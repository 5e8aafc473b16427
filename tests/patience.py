"""How long a test waits for a fact before it fails: far longer than it takes, on a machine with ten times the work too.

Nothing is measured by it, and no test is slower for it: what is waited for is looked at all the while.
"""

from __future__ import annotations

PATIENCE = 300.0
"""Seconds; well within pytest's own limit for a test."""
