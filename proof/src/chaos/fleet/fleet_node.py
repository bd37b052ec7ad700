"""A node of the fleet with the Python SDK. Its work is done by the harness, over standard input and output."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import sys
from typing import Any, Dict

from lingua_node import JobAssign, JobContext, JobError, Node, ResourceUsage, Timings, job_messages

#: The machine of the tests may be busier than a node may be.
CALM: ResourceUsage = {"cpu_percent": 10, "gpu_percent": 10, "mem_percent": 10, "running_jobs": 0}

answers: "Dict[str, asyncio.Future[Dict[str, Any]]]" = {}


def show(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def report_refusals() -> None:
    """The checker must see them, and the SDK does not tell the handler."""
    original = job_messages.failed

    def failed(job: JobAssign, worked: Any, error: JobError) -> Dict[str, Any]:
        if error.code == "NODE_OVERLOADED":
            show("refused", job_id=job["job_id"], attempt_id=job["attempt_id"], running=error.details["running"])
        return original(job, worked, error)

    job_messages.failed = failed


async def on_job(job: JobAssign, ctx: JobContext) -> Any:
    job_id = job["job_id"]
    answer = asyncio.get_running_loop().create_future()
    answers[job_id] = answer
    # The audio follows by itself.
    assign = {name: value for name, value in job.items() if name != "audio"}
    show("job", job_id=job_id, attempt_id=job["attempt_id"], assign=assign)
    try:
        await hand_over_audio(job_id, ctx)
        outcome = await asyncio.shield(answer)
    except asyncio.CancelledError:
        show("cancelled", job_id=job_id)
        # The harness records the end before the slot is free.
        outcome = await asyncio.shield(answer)
    finally:
        del answers[job_id]
    if "error" in outcome:
        raise JobError("PROCESSING_ERROR", outcome["error"])
    return outcome["output"]


async def hand_over_audio(job_id: str, ctx: JobContext) -> None:
    try:
        audio = await ctx.audio()
        show("audio", job_id=job_id, audio=base64.b64encode(audio).decode())
    except JobError as error:
        show("audio", job_id=job_id, error=str(error))


async def main() -> None:
    config = json.loads(os.environ["LINGUA_FLEET_NODE"])
    node = Node(
        url=config["url"],
        token=config.get("token"),
        node_id=config["name"],
        max_concurrent_jobs=config["slots"],
        capabilities=config["capabilities"],
        resources=CALM.copy,
        timings=Timings(first_retry_s=0.1, longest_retry_s=1.0, ping_interval_s=2.0),
        on_job=on_job,
    )
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await node.start()
    show("registered")
    while True:
        line = await reader.readline()
        if not line:
            break
        outcome = json.loads(line)
        answer = answers.get(outcome["job_id"])
        if answer is not None and not answer.done():
            answer.set_result(outcome)
    await node.stop(0.1)
    os._exit(0)


report_refusals()
logging.getLogger("lingua_node").setLevel(logging.CRITICAL)
asyncio.run(main())
