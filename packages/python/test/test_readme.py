"""The ten lines of the README are a node that works."""

import asyncio
import base64
import re
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from lingua_node import Node
from scripted_scheduler import NodeTest, until

README = Path(__file__).parent.parent / "README.md"


class Readme(NodeTest):
    async def test_the_first_example_translates(self) -> None:
        [code] = re.findall(r"```py\n(.*?)```", README.read_text("utf-8"), re.DOTALL)[:1]
        self.assertLessEqual(len([line for line in code.splitlines() if line.strip()]), 10)
        made: list[Node] = []

        async def recognise(audio: bytes, language: str) -> str:
            return f"{len(audio)} bytes of {language}"

        async def translate(text: str, language: str) -> str:
            return f"{language}: {text}"

        def build(**options: Any) -> Node:
            options["url"] = self.scheduler.url
            made.append(Node(**options))
            return made[0]

        names: dict[str, Any] = {"recognise": recognise, "translate": translate}
        running: list[asyncio.Task[None]] = []

        def run(coroutine: Any) -> None:
            running.append(asyncio.get_running_loop().create_task(coroutine))

        with mock.patch("lingua_node.Node", build), mock.patch("asyncio.run", run):
            exec(compile(code, str(README), "exec"), names)
        await until(lambda: len(self.scheduler.of_type("node_register")) == 1)
        await self.scheduler.assign(
            audio=base64.b64encode(bytes(320)).decode(), src_lang="en", tgt_lang="ko"
        )
        [result] = await self.results(1)
        self.assertEqual(result["text_asr"], "320 bytes of en")
        self.assertEqual(result["text_translated"], "ko: 320 bytes of en")
        [registered] = self.scheduler.of_type("node_register")
        self.assertEqual(registered["max_concurrent_jobs"], 2)
        await made[0].stop(0)
        await asyncio.gather(*running)


if __name__ == "__main__":
    unittest.main()
