"""`python -m lingua_node check`: what it prints and its exit code."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import List, Tuple

from scripted_scheduler import NodeTest, until

from lingua_node.check import main


class Check(NodeTest):
    async def check(self, *arguments: str, url: str = "") -> Tuple[int, List[str]]:
        """On a thread, because it has a loop of its own."""
        lines: List[str] = []
        options = ["--url", url or self.scheduler.url, *arguments]
        code = await asyncio.get_running_loop().run_in_executor(None, main, options, lines.append)
        return code, lines

    async def report(self, status: str, reason: str) -> None:
        await until(lambda: len(self.scheduler.of_type("node_heartbeat")) > 0)
        fields = {"node_id": "node-given", "status": status, "reason": reason, "timestamp": 1}
        await self.scheduler.send({"type": "node_status", **fields})

    async def test_a_node_that_becomes_ready_is_fine(self) -> None:
        checking = asyncio.ensure_future(self.check("--wait", "60"))
        await self.report("ready", "")
        code, lines = await checking
        self.assertEqual((code, [line.split()[0] for line in lines]), (0, ["reached", "registered", "ready"]))

    async def test_a_degraded_node_is_reported_with_the_reason(self) -> None:
        checking = asyncio.ensure_future(self.check("--wait", "60"))
        await self.report("degraded", "cpu above 85 %")
        code, lines = await checking
        self.assertEqual(code, 1)
        self.assertIn("the node is degraded: cpu above 85 %", lines[-2])
        self.assertIn("/api/v1/nodes", lines[-1])

    async def test_an_address_where_nothing_listens_has_a_hint(self) -> None:
        server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        code, lines = await self.check(url=f"ws://127.0.0.1:{port}/ws/node")
        self.assertEqual(code, 1)
        self.assertIn(f"nothing listens on 127.0.0.1 port {port}", lines[0])
        self.assertIn("start the scheduler", lines[1])

    async def test_a_refused_registration_has_the_message_of_the_scheduler_and_a_hint(self) -> None:
        self.scheduler.acknowledges = False
        checking = asyncio.ensure_future(self.check("--wait", "60"))
        await until(lambda: len(self.scheduler.of_type("node_register")) == 1)
        await self.scheduler.send({"type": "error", "code": "NODE_ID_CONFLICT", "message": "taken"})
        code, lines = await checking
        self.assertEqual((code, lines[1]), (1, "failed      NODE_ID_CONFLICT: taken"))
        self.assertIn("leave node_id away", lines[2])

    async def test_capabilities_come_from_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "capabilities.json"
            file.write_text(json.dumps({"version": "7"}), "utf-8")
            checking = asyncio.ensure_future(self.check("--wait", "60", "--capabilities", str(file)))
            await self.report("ready", "")
            self.assertEqual((await checking)[0], 0)
            self.assertEqual(self.scheduler.of_type("node_register")[0]["version"], "7")
            file.write_text("[]", "utf-8")
            self.assertIn("must contain an object", (await self.check("--capabilities", str(file)))[1][0])

    async def test_a_wrong_url_is_refused_before_anything_is_tried(self) -> None:
        code, lines = await self.check(url="http://127.0.0.1/")
        self.assertEqual(code, 1)
        self.assertIn("ws://", lines[0])
