"""Builds the messages that a node sends about a job. Pure."""

from __future__ import annotations

import base64
import json
from typing import Any, Dict, Mapping, NamedTuple, Optional, cast

from .errors import JobError
from .messages import JobAssign
from .protocol import check_result, to_json

LONGEST_TEXT = 65_536
LONGEST_CODE = 256
LONGEST_MESSAGE = 4_096


class Worked(NamedTuple):
    node_id: str
    #: Epoch ms.
    started_at: int
    ended_at: int


def job_ack(job: JobAssign, node_id: str) -> Dict[str, Any]:
    return {"type": "job_ack", **_attempt(job, node_id)}


def job_started(job: JobAssign, node_id: str) -> Dict[str, Any]:
    return {"type": "job_started", **_attempt(job, node_id)}


def asr_partial(job: JobAssign, node_id: str, text: str, is_final: bool) -> Dict[str, Any]:
    return {
        "type": "asr_partial",
        "job_id": job["job_id"],
        "node_id": node_id,
        "session_id": job["session_id"],
        "utterance_index": job["utterance_index"],
        "text": text[:LONGEST_TEXT],
        "is_final": is_final,
        "trace_id": job["trace_id"],
    }


def job_text(
    job: JobAssign, node_id: str, text_asr: Optional[str], text_translated: Optional[str]
) -> Dict[str, Any]:
    texts = {"text_asr": text_asr, "text_translated": text_translated}
    return {"type": "job_text", **_attempt(job, node_id), **_without_nulls(texts)}


def succeeded(job: JobAssign, worked: Worked, output: Any) -> Dict[str, Any]:
    """The handler's result is checked here, where its author sees the error.

    The scheduler would drop an invalid message, and the job would time out.
    """
    if not isinstance(output, Mapping):
        raise JobError("PROCESSING_ERROR", f"the job handler returned no result but {type(output).__name__}")
    fields = dict(cast(Mapping[str, Any], output))
    audio: Any = fields.get("tts_audio")
    if isinstance(audio, (bytes, bytearray)):
        fields["tts_audio"] = base64.b64encode(bytes(audio)).decode("ascii")
    try:
        plain = json.loads(to_json(fields))
    except (TypeError, ValueError) as error:
        raise JobError("PROCESSING_ERROR", f"the job handler returned an invalid result: {error}") from error
    result = {**_without_nulls(plain), **_echo(job, worked), "success": True}
    problem = check_result(result)
    if problem is not None:
        message = f"the job handler returned an invalid result: {problem.message}"
        raise JobError("PROCESSING_ERROR", message)
    return result


def failed(job: JobAssign, worked: Worked, error: JobError) -> Dict[str, Any]:
    report: Dict[str, Any] = {
        "code": str(error.code)[:LONGEST_CODE],
        "message": str(error.message)[:LONGEST_MESSAGE],
    }
    if error.details is not None:
        try:
            report["details"] = json.loads(to_json({"details": error.details}))["details"]
        except (TypeError, ValueError):
            pass  # It cannot be serialised (a cycle, for example); code and message matter more.
    return {**_echo(job, worked), "success": False, "error": report}


def _attempt(job: JobAssign, node_id: str) -> Dict[str, Any]:
    return {
        "job_id": job["job_id"],
        "attempt_id": job["attempt_id"],
        "node_id": node_id,
        "session_id": job["session_id"],
        "trace_id": job["trace_id"],
    }


def _echo(job: JobAssign, worked: Worked) -> Dict[str, Any]:
    echo: Dict[str, Any] = {
        "type": "job_result",
        **_attempt(job, worked.node_id),
        "utterance_index": job["utterance_index"],
        "processing_time_ms": max(0, worked.ended_at - worked.started_at),
        "node_completed_at_ms": worked.ended_at,
    }
    if "group_id" in job:
        echo["group_id"] = job["group_id"]
    if "part_index" in job:
        echo["part_index"] = job["part_index"]
    return echo


def _without_nulls(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """A handler writes None for what it does not know; on the wire such a field is absent."""
    return {name: value for name, value in fields.items() if value is not None}
