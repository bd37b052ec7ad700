"""Timings and limits of a node, and the checks of its options."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping
from urllib.parse import urlsplit

from .messages import SERVICE_TYPES

#: Protocol extensions that the SDK supports by itself.
EXTENSIONS = ("job_ack", "audio_ref", "drain", "cancel_ack")

MEGABYTE = 1024 * 1024
MOST_JOBS = 10_000


@dataclass(frozen=True)
class Timings:
    """In seconds."""

    #: The ceiling of the first delay after a lost connection; it doubles with every failure, up to the longest.
    first_retry_s: float = 0.25
    longest_retry_s: float = 15.0
    #: After a connection was registered this long, the next loss starts from the first delay.
    stable_after_s: float = 5.0
    connect_timeout_s: float = 10.0
    register_timeout_s: float = 10.0
    #: A connection without any traffic for two intervals is dead. The scheduler waits two seconds for a lost node.
    ping_interval_s: float = 5.0
    #: Used when the scheduler does not name an interval.
    heartbeat_interval_s: float = 15.0
    audio_timeout_s: float = 10.0
    #: How often `leaving_in_s` is asked.
    notice_interval_s: float = 1.0


@dataclass(frozen=True)
class Limits:
    max_audio_bytes: int = 32 * MEGABYTE
    max_message_bytes: int = 64 * MEGABYTE
    #: Nothing is written to a connection with this much unsent data.
    max_buffered_bytes: int = 8 * MEGABYTE
    #: Results kept until they are delivered.
    max_kept_results: int = 1_000
    max_kept_bytes: int = 64 * MEGABYTE
    #: Results remembered in case the same job is sent again.
    max_remembered_results: int = 200
    max_remembered_bytes: int = 16 * MEGABYTE


def check_options(url: str, token: object, max_concurrent_jobs: object, on_job: object) -> None:
    """Invalid options are a programming error, so they raise immediately."""
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ValueError("url must start with ws:// or wss://, such as ws://127.0.0.1:5010/ws/node")
    if token is not None and not (isinstance(token, str) and re.fullmatch(r"[\x21-\x7e]+", token)):
        raise ValueError("token must have only visible ASCII characters: it is sent in a header")
    is_count = isinstance(max_concurrent_jobs, int) and not isinstance(max_concurrent_jobs, bool)
    if not is_count or not 1 <= int(str(max_concurrent_jobs)) <= MOST_JOBS:
        raise ValueError(f"max_concurrent_jobs must be a whole number from 1 to {MOST_JOBS}")
    if not callable(on_job):
        raise TypeError("on_job must be a function")


def check_service_types(capabilities: Mapping[str, Any]) -> None:
    """The scheduler accepts any type, so a misspelt one would only mean that the node never gets a job."""
    reports: List[Dict[str, Any]] = [
        *(capabilities.get("capability_by_type") or []),
        *(capabilities.get("installed_services") or []),
    ]
    for report in reports:
        kind = report.get("type")
        if kind is None or kind in SERVICE_TYPES:
            continue
        near = difflib.get_close_matches(str(kind).strip().lower(), SERVICE_TYPES, n=1)
        advice = f'did you mean "{near[0]}"?' if near else f"the known ones are {', '.join(SERVICE_TYPES)}"
        raise ValueError(f'the capabilities name the unknown service type "{kind}"; {advice}')
