"""CPU and memory use of this machine, for nodes without their own meter."""

from __future__ import annotations

import os
from typing import Dict, Optional, Tuple

from .messages import ResourceUsage


class MachineMeter:
    """Each call returns the use since the previous one; the first call, since the start of the machine."""

    def __init__(self) -> None:
        self._before: Tuple[float, float] = (0.0, 0.0)
        self._cpu_percent = 0.0

    def __call__(self, running_jobs: int) -> ResourceUsage:
        return {
            "cpu_percent": self._cpu(),
            "mem_percent": _memory_percent(),
            "running_jobs": running_jobs,
        }

    def _cpu(self) -> float:
        times = _cpu_times()
        if times is None:
            return _load_percent()
        idle, total = times[0] - self._before[0], times[1] - self._before[1]
        # The counters advance every 10 ms: two calls within that time would divide by zero.
        if total > 0:
            self._cpu_percent = _percent(1 - idle / total)
            self._before = times
        return self._cpu_percent


def _cpu_times() -> Optional[Tuple[float, float]]:
    """Idle and total time of all processors; None where there is no /proc."""
    try:
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [float(field) for field in stat.readline().split()[1:9]]
    except (OSError, ValueError):
        return None
    return (fields[3] + fields[4], sum(fields)) if len(fields) > 4 else None


def _load_percent() -> float:
    """The load of the last minute, where the machine has no counters."""
    try:
        return _percent(os.getloadavg()[0] / (os.cpu_count() or 1))
    except (AttributeError, OSError):
        return 0.0


def _memory_percent() -> float:
    """0 where the machine does not tell: the scheduler then never withholds jobs for lack of memory."""
    facts: Dict[str, float] = {}
    try:
        with open("/proc/meminfo", encoding="ascii") as meminfo:
            for line in meminfo:
                name, _, value = line.partition(":")
                facts[name] = float(value.split()[0])
        return _percent(1 - facts["MemAvailable"] / facts["MemTotal"])
    except (OSError, ValueError, KeyError, IndexError, ZeroDivisionError):
        return 0.0


def memory_gb() -> float:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024**3, 1)
    except (AttributeError, OSError, ValueError):
        return 0.0


def _percent(share: float) -> float:
    return round(min(1.0, max(0.0, share)) * 100, 1)
