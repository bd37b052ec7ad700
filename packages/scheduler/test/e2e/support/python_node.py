"""A node with the Python SDK whose jobs end when a line arrives on standard input."""

from __future__ import annotations

import asyncio
import sys

from lingua_node import JobAssign, JobContext, JobOutput, Node

async def main() -> None:
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)

    async def on_job(job: JobAssign, ctx: JobContext) -> JobOutput:
        audio = await ctx.audio()
        print(f"begun {job['job_id']}", flush=True)
        text = (await lines.readline()).decode().strip()
        return {"text_asr": f"{len(audio)} bytes", "text_translated": text, "tts_audio": audio, "tts_format": "pcm16"}

    languages = ["en", "zh"]
    node = Node(
        url=sys.argv[1],
        node_id="node-python",
        max_concurrent_jobs=1,
        capabilities={
            "capability_by_type": [{"type": kind, "ready": True} for kind in ("asr", "semantic", "nmt", "tts")],
            "language_capabilities": {
                "asr_languages": languages,
                "semantic_languages": languages,
                "tts_languages": languages,
            },
        },
        # The test machine may be busier than the scheduler allows for a node.
        resources=lambda: {"cpu_percent": 10, "mem_percent": 10, "running_jobs": 0},
        on_job=on_job,
    )
    await node.run()


asyncio.run(main())
