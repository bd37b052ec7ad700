"""The two errors of the SDK: a job that failed, and a scheduler that refuses the node."""

from __future__ import annotations

from typing import Any


class JobError(Exception):
    """Raised by a job handler to fail its job with a code that the scheduler understands.

    Codes such as MODEL_NOT_AVAILABLE or PROCESSING_ERROR decide what the scheduler does; it passes others on.
    """

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class StartError(Exception):
    """The scheduler refuses the node, and a retry would not help. `Node.start` raises it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        #: Such as UNAUTHORIZED; NOT_FOUND if the url is not a Lingua scheduler.
        self.code = code
        self.message = message
