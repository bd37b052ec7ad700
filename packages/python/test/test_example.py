"""The example of the README runs with its stub model."""

import base64
import sys
import unittest
from pathlib import Path
from unittest import mock

from scripted_scheduler import NodeTest

sys.path.insert(0, str(Path(__file__).parent.parent / "example"))


class Example(NodeTest):
    async def test_the_example_recognises_with_partial_texts(self) -> None:
        with mock.patch.object(sys, "argv", ["whisper_node.py"]):
            import whisper_node
        await self.started(whisper_node.on_job)
        await self.scheduler.assign(audio=base64.b64encode(bytes(48_000)).decode())
        [result] = await self.results(1)
        self.assertEqual(result["text_asr"], "word1 word2 word3")
        partials = [message["text"] for message in self.scheduler.of_type("asr_partial")]
        self.assertEqual(partials, ["word1", "word1 word2", "word1 word2 word3"])
        await self.scheduler.assign(job_id="job-2", audio_format="opus")
        self.assertIn("Unsupported audio format", (await self.results(2))[1]["error"]["message"])


if __name__ == "__main__":
    unittest.main()
