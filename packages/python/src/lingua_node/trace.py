"""The parent span of a node's own spans in the trace of a job."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from .messages import JobAssign

TRACE_ID = re.compile(r"(?!0+$)[0-9a-f]{32}", re.IGNORECASE)


class TraceContext(NamedTuple):
    #: In the format of OpenTelemetry: 32 hexadecimal digits.
    trace_id: str
    #: The span of this attempt.
    parent_span_id: str
    #: Both, as a W3C header.
    traceparent: str


def trace_context(job: JobAssign) -> TraceContext:
    """The ids of the spans that the scheduler exports, if it does (`scheduler.observability.otlp_endpoint`)."""
    given = job["trace_id"]
    trace_id = given.lower() if TRACE_ID.fullmatch(given) else _digest(given, 32)
    parent = _digest(f"attempt {job['job_id']} {job['attempt_id']}", 16)
    return TraceContext(trace_id, parent, f"00-{trace_id}-{parent}-01")


def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
