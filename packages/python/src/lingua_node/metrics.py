"""The counters of a node."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metrics:
    is_registered: bool
    is_draining: bool
    #: Accepted jobs.
    jobs: int
    succeeded: int
    failed: int
    cancelled: int
    #: Jobs refused for lack of a free slot.
    refused: int
    #: Repeated jobs that did not run again.
    duplicates: int
    running: int
    #: Results whose delivery is unconfirmed.
    kept: int
    #: Results that were dropped before they were delivered.
    dropped: int
    #: Results sent again after a loss of the connection.
    resent: int
    #: Registrations after the first.
    reconnects: int
    #: Invalid frames from the scheduler.
    invalid_frames: int
    #: Acknowledgements, partial texts and heartbeats that could not be sent.
    unsent_reports: int
