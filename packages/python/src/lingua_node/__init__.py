"""The SDK for GPU nodes of the Lingua Scheduler."""

from .context import BlockingJobContext, JobContext
from .errors import JobError, StartError
from .jobs import AsyncHandler, BlockingHandler, JobHandler
from .messages import Capabilities, JobAssign, JobOutput, ResourceUsage
from .metrics import Metrics
from .node import Node
from .options import EXTENSIONS, Limits, Timings
from .trace import TraceContext, trace_context

__version__ = "0.1.0"

__all__ = [
    "EXTENSIONS",
    "AsyncHandler",
    "BlockingHandler",
    "BlockingJobContext",
    "Capabilities",
    "JobAssign",
    "JobContext",
    "JobError",
    "JobHandler",
    "JobOutput",
    "Limits",
    "Metrics",
    "Node",
    "ResourceUsage",
    "StartError",
    "Timings",
    "TraceContext",
    "trace_context",
]
