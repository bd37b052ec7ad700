"""What the author of a node sees of the SDK; what the scheduler sees is in the conformance suite."""

import asyncio
import logging
import threading
from dataclasses import replace
from functools import partial
from typing import Any, List

from scripted_scheduler import FAST, NodeTest, until

from lingua_node import JobError, Metrics, Node, StartError
from lingua_node.connection import websocket

for name in ("lingua_node", "websockets.server"):
    logging.getLogger(name).setLevel(logging.CRITICAL)


class Handlers(NodeTest):
    async def test_a_plain_function_runs_on_its_own_thread_per_job(self) -> None:
        both = threading.Barrier(2, timeout=60)
        threads = set()

        def on_job(_job: Any, ctx: Any) -> Any:
            both.wait()
            threads.add(threading.current_thread().name)
            ctx.partial("half")
            return {"text_asr": ctx.audio().decode()}

        await self.started(on_job)
        await self.scheduler.assign(job_id="job-a")
        await self.scheduler.assign(job_id="job-b")
        results = await self.results(2)
        self.assertEqual([result["text_asr"] for result in results], ["hello", "hello"])
        self.assertEqual(len(threads), 2)
        self.assertEqual(len(self.scheduler.of_type("asr_partial")), 2)

    async def test_a_thread_tells_texts_if_the_node_supports_stage_results(self) -> None:
        self.assertEqual(await self.texts_told(["stage_results"]), [("hello", "hola")])

    async def test_a_thread_tells_no_texts_otherwise(self) -> None:
        self.assertEqual(await self.texts_told([]), [])

    async def texts_told(self, supports: List[str]) -> List[Any]:
        def on_job(_job: Any, ctx: Any) -> Any:
            ctx.texts(text_asr="hello", text_translated="hola")
            return {}

        await self.started(on_job, supports=supports)
        await self.scheduler.assign()
        await self.results(1)
        told = self.scheduler.of_type("job_text")
        return [(message["text_asr"], message["text_translated"]) for message in told]

    async def test_a_cancelled_thread_keeps_its_slot_until_it_has_ended(self) -> None:
        begun, may_end = threading.Event(), threading.Event()
        seen: List[bool] = []

        def on_job(_job: Any, ctx: Any) -> Any:
            begun.set()
            may_end.wait(60)
            seen.append(ctx.cancelled)
            ctx.raise_if_cancelled()
            return {}

        node = await self.started(on_job, max_concurrent_jobs=1)
        await self.scheduler.assign(job_id="job-a")
        await until(begun.is_set)
        await self.scheduler.send({"type": "job_cancel", "job_id": "job-a", "reason": "left"})
        await self.scheduler.assign(job_id="job-b")
        [refused] = await self.results(1)
        self.assertEqual((refused["job_id"], refused["error"]["code"]), ("job-b", "NODE_OVERLOADED"))
        self.assertEqual(node.metrics().running, 1)
        may_end.set()
        ended = (await self.results(2))[1]
        self.assertEqual((ended["job_id"], ended["error"]["code"], seen), ("job-a", "JOB_CANCELLED", [True]))

    async def test_a_cancelled_coroutine_gets_cancelled_error_and_may_clean_up(self) -> None:
        cleaned = asyncio.Event()
        steps: List[str] = []

        async def on_job(_job: Any, ctx: Any) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                steps.append(str(ctx.cancel_reason))
                await cleaned.wait()
                raise

        node = await self.started(on_job)
        await self.scheduler.assign()
        await until(lambda: node.metrics().running == 1)
        await self.scheduler.send({"type": "job_cancel", "job_id": "job-1", "reason": "left"})
        await until(lambda: steps == ["left"])
        self.assertEqual(node.metrics().running, 1)
        cleaned.set()
        [result] = await self.results(1)
        self.assertEqual(result["error"], {"code": "JOB_CANCELLED", "message": "left"})
        self.assertEqual(node.metrics().cancelled, 1)

    async def test_objects_and_partials_of_coroutines_are_handlers(self) -> None:
        class Model:
            async def __call__(self, _job: Any, _ctx: Any) -> Any:
                return {"text_asr": "object"}

        async def on_job(text: str, _job: Any, _ctx: Any) -> Any:
            return {"text_asr": text}

        await self.started(Model())
        await self.scheduler.assign(job_id="job-a")
        await self.results(1)
        await self.started(partial(on_job, "partial"))
        await self.scheduler.assign(job_id="job-b")
        texts = [result["text_asr"] for result in await self.results(2)]
        self.assertEqual(texts, ["object", "partial"])

    async def test_a_handler_that_cancels_itself_fails_its_job_only(self) -> None:
        async def on_job(_job: Any, _ctx: Any) -> Any:
            raise asyncio.CancelledError

        node = await self.started(on_job)
        await self.scheduler.assign()
        [result] = await self.results(1)
        self.assertEqual(result["error"]["code"], "PROCESSING_ERROR")
        self.assertTrue(node.metrics().is_registered)

    async def test_errors_that_json_cannot_represent_lose_only_their_details(self) -> None:
        async def on_job(_job: Any, _ctx: Any) -> Any:
            raise JobError("OWN_CODE", "odd", {"bytes": b"1"})

        await self.started(on_job)
        await self.scheduler.assign()
        self.assertEqual((await self.results(1))[0]["error"], {"code": "OWN_CODE", "message": "odd"})


async def silent(_job: Any, _ctx: Any) -> Any:
    return {}


class Life(NodeTest):
    async def test_the_metrics_hook_is_called_at_each_heartbeat(self) -> None:
        seen: List[Metrics] = []
        node = await self.started(silent, on_metrics=seen.append)
        await self.scheduler.assign()
        await self.results(1)
        await until(lambda: node.metrics().kept == 0)
        node.beat()
        self.assertEqual([(metrics.jobs, metrics.succeeded) for metrics in seen], [(0, 0), (1, 1)])

    async def test_callbacks_that_raise_do_not_affect_the_node(self) -> None:
        def broken(*_values: Any) -> Any:
            raise ValueError("broken")

        async def broken_later(_reason: Any) -> None:
            raise ValueError("broken")

        node = await self.started(
            silent,
            on_status=broken,
            on_metrics=broken,
            on_command=broken,
            on_drain=broken_later,
            resources=broken,
            capabilities=broken,
        )
        await self.scheduler.send({"type": "node_control", "command": "reload_config"})
        await self.scheduler.assign()
        await self.results(1)
        await node.drain()
        self.assertGreater(self.scheduler.of_type("node_heartbeat")[0]["resource_usage"]["mem_percent"], 0)

    async def test_invalid_options_raise_immediately(self) -> None:
        for options in ({"url": "http://a/"}, {"max_concurrent_jobs": 0}, {"max_concurrent_jobs": True}, {"token": "a\nb"}):
            with self.subTest(options), self.assertRaises(ValueError):
                self.node(silent, **options)
        with self.assertRaises(TypeError):
            self.node(None)

    async def test_a_misspelt_service_type_is_refused_with_the_nearest_known_one(self) -> None:
        node = self.node(silent, capabilities={"capability_by_type": [{"type": "ars", "ready": True}]})
        with self.assertRaisesRegex(ValueError, '"ars".*did you mean "asr"'):
            await node.start()
        self.assertEqual(self.scheduler.received, [])

    async def test_stop_before_the_registration_ends_start(self) -> None:
        self.scheduler.acknowledges = False
        node = self.node(silent)
        starting = asyncio.ensure_future(node.start())
        await until(lambda: len(self.scheduler.of_type("node_register")) == 1)
        await node.stop()
        with self.assertRaisesRegex(RuntimeError, "before it was registered"):
            await starting
        with self.assertRaisesRegex(RuntimeError, "stopped node"):
            await node.start()

    async def test_run_returns_when_the_scheduler_shuts_the_node_down(self) -> None:
        node = self.node(silent)
        running = asyncio.ensure_future(node.run())
        await until(lambda: node.metrics().is_registered)
        await self.scheduler.send({"type": "node_control", "command": "shutdown"})
        await asyncio.wait_for(running, 60)
        self.assertFalse(node.metrics().is_registered)

    async def test_run_raises_the_refusal_of_the_scheduler(self) -> None:
        async def refuse(reader: Any, writer: Any) -> None:
            await reader.readuntil(b"\r\n\r\n")
            body = b'{"error":"UNAUTHORIZED","detail":"unknown token"}'
            writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            writer.close()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        self.addCleanup(server.close)
        port = server.sockets[0].getsockname()[1]
        node = self.node(silent, url=f"ws://127.0.0.1:{port}/ws/node")
        with self.assertRaises(StartError) as raised:
            await node.run()
        self.assertEqual((raised.exception.code, raised.exception.message), ("UNAUTHORIZED", "the scheduler answered 401: unknown token"))

    async def test_kill_sends_no_close_frame_and_no_result(self) -> None:
        gate = asyncio.Event()

        async def on_job(_job: Any, _ctx: Any) -> Any:
            await gate.wait()
            return {}

        node = await self.started(on_job)
        await self.scheduler.assign()
        await until(lambda: node.metrics().running == 1)
        node.kill()
        await until(lambda: node.metrics().running == 0)
        await until(lambda: self.scheduler.sockets[-1].close_code is not None)
        self.assertEqual(self.scheduler.sockets[-1].close_code, 1006)
        self.assertEqual(self.scheduler.results(), [])

    async def test_every_delay_has_its_own_jitter(self) -> None:
        chances = iter([0.9, 0.0, 0.5, 0.5])
        drawn: List[float] = []

        def chance() -> float:
            drawn.append(next(chances, 0.5))
            return drawn[-1]

        node = await self.started(silent, chance=chance, timings=replace(FAST, first_retry_s=0.001))
        self.scheduler.cut()
        await until(lambda: node.metrics().reconnects == 1)
        self.assertEqual(drawn[:3], [0.9, 0.0, 0.5])


class Spelling(NodeTest):
    async def test_the_name_of_the_class_before_and_since_websockets_11_is_found(self) -> None:
        real = websocket.protocol_class()
        client: Any = websocket.importlib.import_module("websockets.client")
        for name, other in (("ClientProtocol", "ClientConnection"), ("ClientConnection", "ClientProtocol")):
            saved = {key: getattr(client, key) for key in (name, other) if key in vars(client)}
            for key in saved:
                delattr(client, key)
            setattr(client, name, real)
            try:
                self.assertIs(websocket.protocol_class(), real)
            finally:
                delattr(client, name)
                for key, value in saved.items():
                    setattr(client, key, value)

    async def test_texts_of_several_frames_are_joined(self) -> None:
        node: Node = await self.started(silent)
        parts = ['{"type":"node_control",', '"command":"drain"}']
        await self.scheduler.sockets[-1].send(parts)
        await until(lambda: node.metrics().is_draining)
