"""A node that recognises speech with Whisper. Without a model name it runs with a stub, to try the connection.

    python3 whisper_node.py                 # the stub
    python3 whisper_node.py large-v3        # the package faster-whisper
"""

from __future__ import annotations

import array
import asyncio
import importlib
import logging
import os
import sys
from typing import Any, Iterator, List, Optional

from lingua_node import BlockingJobContext, JobAssign, JobError, JobOutput, Node

LANGUAGES = ["en", "de", "es", "fr"]


class StubModel:
    """Hears a word per half a second of audio."""

    def transcribe(self, samples: "array.array[int]", _language: Optional[str]) -> Iterator[str]:
        for word in range(len(samples) // 8_000):
            yield f"word{word + 1}"


class WhisperModel:
    def __init__(self, name: str) -> None:
        self._numpy: Any = importlib.import_module("numpy")
        self._model: Any = importlib.import_module("faster_whisper").WhisperModel(name)

    def transcribe(self, samples: "array.array[int]", language: Optional[str]) -> Iterator[str]:
        floats = self._numpy.frombuffer(samples, dtype="int16").astype("float32") / 32_768
        segments, _info = self._model.transcribe(floats, language=language)
        for segment in segments:
            yield segment.text.strip()


model: Any = WhisperModel(sys.argv[1]) if len(sys.argv) > 1 else StubModel()


def on_job(job: JobAssign, ctx: BlockingJobContext) -> JobOutput:
    """A plain function, because the model blocks: the SDK runs it on a thread."""
    if job["audio_format"] != "pcm16":
        raise JobError("PROCESSING_ERROR", f"Unsupported audio format {job['audio_format']}")
    samples = array.array("h", ctx.audio())
    language = None if job["src_lang"] == "auto" else job["src_lang"]
    texts: List[str] = []
    for text in model.transcribe(samples, language):
        ctx.raise_if_cancelled()
        texts.append(text)
        ctx.partial(" ".join(texts))
    return {"text_asr": " ".join(texts)}


async def main() -> None:
    node = Node(
        url=os.environ.get("LINGUA_URL", "ws://127.0.0.1:5010/ws/node"),
        token=os.environ.get("LINGUA_TOKEN"),
        max_concurrent_jobs=1,
        capabilities={
            "version": "1.0.0",
            "capability_by_type": [{"type": "asr", "ready": True}],
            "language_capabilities": {"asr_languages": LANGUAGES},
        },
        on_job=on_job,
    )
    await node.run()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main())
