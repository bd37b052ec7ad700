"""Heartbeats: the load of the node and its changed capabilities, at the interval that the scheduler requested."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from typing import Any, Callable, Dict, List, Optional, Union

from .messages import Capabilities, ResourceUsage
from .protocol import to_json
from .usage import MachineMeter

CapabilitySource = Union[Capabilities, Callable[[], Capabilities]]

#: The capabilities that heartbeats may change.
CHANGING = (
    "installed_models",
    "installed_services",
    "capability_by_type",
    "capability_state",
    "language_capabilities",
)
#: Each heartbeat is earlier or later by up to this share of the interval: nodes that started together drift apart.
JITTER = 0.2
#: The limit of the protocol.
LONGEST_NOTICE_MS = 86_400_000
SHORTEST_S = 0.02
LONGEST_S = 600.0


class HeartbeatMessage:
    def __init__(
        self,
        capabilities: CapabilitySource,
        resources: Optional[Callable[[], ResourceUsage]],
        log: logging.Logger,
    ) -> None:
        self._source = capabilities
        self._resources = resources
        self._log = log
        self._meter = MachineMeter()
        self._capabilities: Capabilities = {}
        self._last_sent = ""

    def capabilities(self) -> Capabilities:
        """For a registration; heartbeats then send only changes to it."""
        self._ask()
        self._last_sent = to_json(self._report())
        return self._capabilities

    def next(
        self,
        *,
        node_id: str,
        is_draining: bool,
        running: List[str],
        unsent: List[str],
        leaving_in_s: Optional[float] = None,
    ) -> Dict[str, Any]:
        """`unsent`: finished jobs with unsent results, which the scheduler must not give to another node."""
        changes = self._changes()
        if leaving_in_s is not None:
            changes["leaving_in_ms"] = min(LONGEST_NOTICE_MS, max(0, round(leaving_in_s * 1000)))
        return {
            "type": "node_heartbeat",
            "node_id": node_id,
            "timestamp": int(time.time() * 1000),
            "resource_usage": self._usage(len(running)),
            "running_job_ids": list(dict.fromkeys([*running, *unsent])),
            "health": "draining" if is_draining else "ready",
            **changes,
        }

    def _ask(self) -> None:
        if not callable(self._source):
            self._capabilities = self._source
            return
        try:
            self._capabilities = self._source()
        except Exception:
            self._log.exception("the capabilities callback failed; the last values remain")

    def _report(self) -> Dict[str, Any]:
        """Absent parts keep their last value at the scheduler."""
        return {name: value for name, value in self._capabilities.items() if name in CHANGING}

    def _changes(self) -> Dict[str, Any]:
        if not callable(self._source):
            return {}
        self._ask()
        report = self._report()
        text = to_json(report)
        if text == self._last_sent:
            return {}
        self._last_sent = text
        return report

    def _usage(self, running: int) -> ResourceUsage:
        if self._resources is not None:
            try:
                usage = self._resources().copy()
                usage["running_jobs"] = running
                return usage
            except Exception:
                self._log.exception("the resources callback failed; those of the machine are sent")
        return self._meter(running)


class Heartbeat:
    def __init__(self, send: Callable[[], None], chance: Callable[[], float] = random.random) -> None:
        self._send = send
        self._chance = chance
        self._timer: Optional[asyncio.TimerHandle] = None

    def start(self, interval_s: float) -> None:
        """The first heartbeat is sent immediately."""
        self.stop()
        self._send()
        self._next(interval_s)

    def beat(self) -> None:
        """Sends one more now."""
        if self._timer is not None:
            self._send()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _next(self, interval_s: float) -> None:
        delay_s = next_beat_s(interval_s, self._chance())
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._turn, interval_s)

    def _turn(self, interval_s: float) -> None:
        self._next(interval_s)
        self._send()


def next_beat_s(interval_s: float, chance: float) -> float:
    return interval_s * (1 - JITTER + 2 * JITTER * chance)


def heartbeat_interval(requested_ms: Optional[int], usual_s: float) -> float:
    """The requested interval within limits, or the usual one if none was requested."""
    if requested_ms is None or requested_ms <= 0:
        return usual_s
    return min(LONGEST_S, max(SHORTEST_S, requested_ms / 1000))
