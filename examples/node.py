"""A node in Python: PYTHONPATH=packages/python/src python3 examples/node.py. Put your models where it says so.

LINGUA_NODE_URL names the scheduler's socket, LINGUA_TOKEN is a token of a node if the scheduler requires one.
"""

import asyncio
import os

from lingua_node import JobError, Node

GREETINGS = {"de": "Guten Tag", "en": "Good day", "fr": "Bonjour", "nl": "Goedendag"}


async def on_job(job, ctx):
    sound = await ctx.audio()
    if job["audio_format"] != "pcm16":
        raise JobError("PROCESSING_ERROR", f"cannot decode {job['audio_format']}")
    # Here your models recognise and translate. A plain function instead of an async one runs on a thread.
    heard = f"{len(sound) / 2 / job['sample_rate']:.1f} s of speech"
    return {"text_asr": heard, "text_translated": f"{GREETINGS[job['tgt_lang']]} ({heard})"}


node = Node(
    url=os.environ.get("LINGUA_NODE_URL", "ws://127.0.0.1:5010/ws/node"),
    token=os.environ.get("LINGUA_TOKEN"),
    max_concurrent_jobs=2,
    on_job=on_job,
    capabilities={
        "capability_by_type": [{"type": kind, "ready": True} for kind in ("asr", "semantic", "nmt")],
        "language_capabilities": {"asr_languages": list(GREETINGS), "semantic_languages": list(GREETINGS)},
    },
)
# Registers, works until SIGINT or SIGTERM, and lets running jobs finish.
asyncio.run(node.run())
