"""The program under test of the Python SDK: a node that does what each job's instructions say."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import os
import sys
from typing import Any, Dict

from lingua_node import EXTENSIONS, JobAssign, JobContext, JobError, Node, StartError, Timings

NAMES = {
    "first_retry_ms": "first_retry_s",
    "longest_retry_ms": "longest_retry_s",
    "ping_interval_ms": "ping_interval_s",
    "register_timeout_ms": "register_timeout_s",
    "audio_timeout_ms": "audio_timeout_s",
    "notice_interval_ms": "notice_interval_s",
}


def show(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


class Gates(Dict[str, asyncio.Event]):
    def __missing__(self, name: str) -> asyncio.Event:
        self[name] = asyncio.Event()
        return self[name]


gates = Gates()


async def on_job(job: JobAssign, ctx: JobContext) -> Any:
    try:
        output: Any = {"text_asr": "done"}
        for step in json.loads(job.get("context_text", "[]")):
            output = await follow(step, job, ctx, output)
        return output
    finally:
        show("ended", job_id=job["job_id"])


async def follow(step: Dict[str, Any], job: JobAssign, ctx: JobContext, output: Any) -> Any:
    if "wait" in step:
        try:
            await gates[step["wait"]].wait()
        except asyncio.CancelledError:
            show("cancelled", job_id=job["job_id"])
            raise
    elif "insist" in step:
        opened = asyncio.ensure_future(gates[step["insist"]].wait())
        while not opened.done():
            try:
                await asyncio.shield(opened)
            except asyncio.CancelledError:
                pass  # Like a model that cannot be interrupted.
    elif "partial" in step:
        ctx.partial(step["partial"], step.get("is_final", False))
    elif "texts" in step:
        ctx.texts(**step["texts"])
    elif "audio" in step:
        audio = await ctx.audio()
        return {**output, "text_asr": f"{len(audio)} {hashlib.sha256(audio).hexdigest()}"}
    elif "text_input" in step:
        return {**output, "text_asr": job["input_text"]}
    elif "bytes" in step:
        return {**output, "tts_audio": base64.b64decode(step["bytes"])}
    elif "fail" in step:
        raise JobError(step["fail"]["code"], step["fail"]["message"], step["fail"].get("details"))
    elif "throw" in step:
        raise RuntimeError(step["throw"])
    elif "return" in step:
        return step["return"]
    return output


async def main() -> None:
    config = json.loads(os.environ["LINGUA_CONFORMANCE"])
    ended = asyncio.Event()
    notice: Dict[str, float] = {}

    def on_command(command: str, _reason: Any) -> None:
        show("command", command=command)
        if command == "shutdown":
            ended.set()

    node = Node(
        url=config["url"],
        token=config.get("token"),
        node_id=config.get("node_id"),
        max_concurrent_jobs=config["max_concurrent_jobs"],
        capabilities=config["capabilities"],
        supports=[*EXTENSIONS, *config["supports"]],
        timings=Timings(**{NAMES[name]: ms / 1000 for name, ms in config["timings"].items()}),
        on_job=on_job,
        on_drain=lambda reason: show("drain", reason=reason),
        on_command=on_command,
        leaving_in_s=lambda: notice.get("in_s"),
    )

    async def start() -> None:
        try:
            await node.start()
            show("registered", node_id=node.node_id)
        except StartError as error:
            show("refused", code=error.code, message=error.message)
            ended.set()

    async def stop(grace_s: float) -> None:
        await node.stop(grace_s)
        ended.set()

    async def obey() -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while True:
            line = await reader.readline()
            if not line:
                os._exit(0)
            order = json.loads(line)
            if "open" in order:
                gates[order["open"]].set()
            elif order["do"] == "beat":
                node.beat()
            elif order["do"] == "notice":
                notice["in_s"] = order["in_ms"] / 1000
            elif order["do"] == "stop":
                tasks.append(asyncio.ensure_future(stop(order.get("grace_ms", 5_000) / 1000)))

    tasks = [asyncio.ensure_future(start()), asyncio.ensure_future(obey())]
    await ended.wait()
    for task in tasks:
        task.cancel()
    os._exit(0)


logging.getLogger("lingua_node").setLevel(logging.CRITICAL)
asyncio.run(main())
