"""Builds the node_register message."""

from __future__ import annotations

import os
import platform
from typing import Any, Dict, Optional, Sequence

from .messages import Capabilities
from .usage import memory_gb


def registration(
    *,
    node_id: Optional[str],
    capabilities: Capabilities,
    max_concurrent_jobs: int,
    supports: Sequence[str],
    running_job_ids: Sequence[str],
) -> Dict[str, Any]:
    """`running_job_ids` is empty at the start: a new process must report that the jobs of the previous one are gone."""
    # A node that reports by type uses the second generation; naming it saves the scheduler a guess.
    by_type = {"capability_schema_version": "2.0"} if "capability_by_type" in capabilities else {}
    return {
        "type": "node_register",
        "version": "0.0.0",
        "platform": platform.system().lower() or "unknown",
        "hardware": {"cpu_cores": os.cpu_count() or 1, "memory_gb": memory_gb()},
        "installed_models": [],
        "features_supported": {},
        "accept_public_jobs": True,
        **by_type,
        **{name: value for name, value in capabilities.items() if value is not None},
        **({} if node_id is None else {"node_id": node_id}),
        "max_concurrent_jobs": max_concurrent_jobs,
        "supports": list(supports),
        "running_job_ids": list(dict.fromkeys(running_job_ids)),
    }
