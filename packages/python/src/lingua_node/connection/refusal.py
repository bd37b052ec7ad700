"""Why the scheduler refuses a node, whether a retry may help, and what to do about it."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, NamedTuple, Optional, cast

from ..errors import StartError

#: Errors that a registration would get again at every retry.
PERMANENT = frozenset(
    (
        "UNAUTHORIZED",
        "FORBIDDEN",
        "INVALID_MESSAGE",
        "INVALID_CAPABILITY_SCHEMA",
        "NO_GPU_AVAILABLE",
        "NODE_ID_CONFLICT",
    )
)

HINTS: Mapping[str, str] = {
    "UNAUTHORIZED": 'give the node a token that the scheduler lists under server.tokens with the role "node"',
    "FORBIDDEN": "the token belongs to another tenant or pins other node ids; ask the operator for one of its own",
    "NOT_FOUND": "the url ends with /ws/node; the default port of the scheduler is 5010",
    "INVALID_MESSAGE": "correct the capability that the message names; docs/protocol.md lists the fields of node_register",
    "INVALID_CAPABILITY_SCHEMA": "report capability_by_type, a list of {type, ready}",
    "NO_GPU_AVAILABLE": "this scheduler requires hardware.gpus, or turn off its scheduler.require_gpu",
    "NODE_ID_CONFLICT": "another living node has this id; leave node_id away, and the scheduler assigns one",
}


class Refusal(NamedTuple):
    reason: str
    #: None: a retry may help.
    error: Optional[StartError]


def refused_registration(code: str, message: str) -> Optional[StartError]:
    """None: a retry may help."""
    return StartError(code, f"{code}: {message}") if code in PERMANENT else None


def refused_upgrade(url: str, status: int, body: bytes) -> Refusal:
    """The answer to an upgrade that is not an upgrade."""
    try:
        reply: Any = json.loads(body)
    except ValueError:
        reply = None
    fields = cast(Dict[str, Any], reply) if isinstance(reply, dict) else {}
    detail: Any = fields.get("detail")
    reason = f"{status}: {detail}" if isinstance(detail, str) else str(status)
    # A proxy answers so while the scheduler restarts.
    if status >= 500 or status in (408, 429):
        return Refusal(reason, None)
    if fields.get("error") in PERMANENT:
        return Refusal(reason, StartError("UNAUTHORIZED", f"the scheduler answered {reason}"))
    address = url.split("?")[0]
    message = f"{address} is not a Lingua scheduler: it answered {reason}; the path is /ws/node"
    return Refusal(reason, StartError("NOT_FOUND", message))
