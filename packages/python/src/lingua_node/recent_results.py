"""Remembers recent results, so that a job that is sent again gets its result without running again. Bounded."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional


class _Remembered(NamedTuple):
    result: Dict[str, Any]
    size: int


class RecentResults:
    def __init__(self, *, max_results: int, max_bytes: int) -> None:
        self._max_results = max_results
        self._max_bytes = max_bytes
        #: Oldest first.
        self._results: Dict[str, _Remembered] = {}
        self._bytes = 0

    def remember(self, result: Dict[str, Any], size: int) -> None:
        job_id = str(result["job_id"])
        self._forget(job_id)
        self._results[job_id] = _Remembered(result, size)
        self._bytes += size
        while len(self._results) > self._max_results or self._bytes > self._max_bytes:
            self._forget(next(iter(self._results)))

    def recall(self, job_id: str, attempt_id: int) -> Optional[Dict[str, Any]]:
        """The result to send again, with the given attempt id; None: the job must run."""
        remembered = self._results.get(job_id)
        if remembered is None:
            return None
        result = remembered.result
        # A later attempt after a failure is a retry.
        if not result["success"] and attempt_id > int(result["attempt_id"]):
            return None
        return {**result, "attempt_id": attempt_id}

    def _forget(self, job_id: str) -> None:
        remembered = self._results.pop(job_id, None)
        if remembered is not None:
            self._bytes -= remembered.size
