"""What a fold worker, a job worker or a command that folds is called."""

from __future__ import annotations

import os
import socket
from uuid import uuid4


def new_worker_id() -> str:
    """A name that no other worker has."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}"
