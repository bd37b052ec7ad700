"""A small real scheduler for tests: a WebSocket server that acknowledges, records, and sends what the test says."""

from __future__ import annotations

import asyncio
import base64
import json
import unittest
from typing import Any, Callable, Dict, List, Optional

import websockets

from lingua_node import Limits, Node, Timings

PATIENCE_S = 60.0
FAST = Timings(first_retry_s=0.005, longest_retry_s=0.05)


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition; generous, because busy test machines are slow."""

    async def look() -> None:
        while not condition():
            await asyncio.sleep(0.002)

    await asyncio.wait_for(look(), PATIENCE_S)


class ScriptedScheduler:
    def __init__(self) -> None:
        self.received: List[Dict[str, Any]] = []
        self.sockets: List[Any] = []
        self.server: Any = None
        self.acknowledges = True
        self.url = ""

    async def listen(self) -> None:
        self.server = await websockets.serve(self._serve, "127.0.0.1", 0)
        port = list(self.server.sockets)[0].getsockname()[1]
        self.url = f"ws://127.0.0.1:{port}/ws/node"

    async def _serve(self, socket: Any, _path: Optional[str] = None) -> None:
        self.sockets.append(socket)
        async for text in socket:
            message = json.loads(text)
            self.received.append(message)
            if message["type"] == "node_register" and self.acknowledges:
                ack = {"type": "node_register_ack", "node_id": message.get("node_id", "node-given")}
                await self.send({**ack, "message": "", "status": "registering", "heartbeat_interval_ms": 60_000})

    def of_type(self, kind: str) -> List[Dict[str, Any]]:
        return [message for message in self.received if message["type"] == kind]

    def results(self) -> List[Dict[str, Any]]:
        return self.of_type("job_result")

    async def send(self, message: Dict[str, Any]) -> None:
        await self.sockets[-1].send(json.dumps(message))

    async def assign(self, **fields: Any) -> None:
        await self.send({**job_assign(), **fields})

    def cut(self) -> None:
        self.sockets[-1].transport.abort()

    async def close(self) -> None:
        self.server.close()
        await self.server.wait_closed()


def job_assign() -> Dict[str, Any]:
    return {
        "type": "job_assign",
        "job_id": "job-1",
        "attempt_id": 1,
        "session_id": "s-1",
        "utterance_index": 0,
        "src_lang": "en",
        "tgt_lang": "de",
        "pipeline": {"use_asr": True, "use_nmt": True, "use_tts": True},
        "audio": base64.b64encode(b"hello").decode(),
        "audio_format": "pcm16",
        "sample_rate": 16_000,
        "trace_id": "trace-1",
    }


class NodeTest(unittest.IsolatedAsyncioTestCase):
    """A scheduler and its nodes, all closed after the test."""

    async def asyncSetUp(self) -> None:
        self.scheduler = ScriptedScheduler()
        await self.scheduler.listen()
        self.addAsyncCleanup(self.scheduler.close)

    def node(self, on_job: Any, **options: Any) -> Node:
        node = Node(
            **{
                "url": self.scheduler.url,
                "max_concurrent_jobs": 2,
                "capabilities": {},
                "timings": FAST,
                "limits": Limits(),
                **options,
            },
            on_job=on_job,
        )
        self.addAsyncCleanup(node.stop, 0)
        return node

    async def started(self, on_job: Any, **options: Any) -> Node:
        node = self.node(on_job, **options)
        await node.start()
        return node

    async def results(self, count: int) -> List[Dict[str, Any]]:
        await until(lambda: len(self.scheduler.results()) >= count)
        return self.scheduler.results()
