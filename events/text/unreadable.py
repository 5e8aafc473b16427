"""What reading damaged bytes raises. msgspec raises its own errors, but UnicodeDecodeError where a text is no UTF-8."""

from __future__ import annotations

import msgspec

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""For `except`, around every decoding of bytes that lie somewhere: in Redis, in a file, in a request."""
