"""Results in the outbox: order, confirmation and limits."""

import asyncio
import json
import unittest
from typing import Any, List

from lingua_node.outbox import Outbox


class Wire:
    """A connection in memory: sent messages arrive here, and the test decides about pongs."""

    def __init__(self, **limits: int) -> None:
        self.sent: List[str] = []
        self.pings: List[str] = []
        self.dropped: List[str] = []
        self.buffered = 0
        self.is_up = True
        usual = {"max_results": 100, "max_bytes": 1_000_000, "max_buffered_bytes": 1_000}
        self.outbox = Outbox(
            send=self._send,
            ping=self.pings.append,
            buffered_bytes=lambda: self.buffered,
            on_dropped=lambda job_id, _why: self.dropped.append(job_id),
            **{**usual, **limits},
        )

    def _send(self, text: str) -> bool:
        if self.is_up:
            self.sent.append(json.loads(text)["id"])
        return self.is_up

    def post(self, name: str, length: int = 0) -> None:
        self.outbox.post(name, {"id": name, "padding": "x" * length})


class OutboxTest(unittest.TestCase):
    def test_a_sent_result_is_kept_until_a_pong_confirms_it(self) -> None:
        wire = Wire()
        wire.outbox.connected("node-1")
        wire.post("a")
        wire.post("b")
        self.assertEqual((wire.sent, wire.pings), (["a", "b"], ["1"]))
        wire.outbox.confirmed("")
        self.assertEqual(wire.outbox.kept_job_ids(), ["a", "b"])
        wire.outbox.confirmed("1")
        self.assertEqual((wire.outbox.kept_job_ids(), wire.pings), (["b"], ["1", "2"]))
        wire.outbox.confirmed("2")
        self.assertEqual((wire.outbox.kept, wire.outbox.resent), (0, 0))

    def test_a_new_ping_is_sent_when_later_pongs_overtook_ours(self) -> None:
        wire = Wire()
        wire.outbox.connected("node-1")
        wire.post("a")
        wire.outbox.confirmed("")
        wire.outbox.confirmed("")
        self.assertEqual(wire.pings, ["1", "1"])

    def test_unconfirmed_results_are_sent_again_before_new_ones(self) -> None:
        wire = Wire()
        wire.outbox.connected("node-1")
        wire.post("a")
        wire.outbox.lost(1006)
        wire.post("b")
        self.assertEqual(wire.outbox.unsent_job_ids(), ["a", "b"])
        wire.outbox.connected("node-1")
        self.assertEqual((wire.sent, wire.outbox.resent), (["a", "a", "b"], 1))

    def test_nothing_is_sent_while_the_scheduler_drops_messages(self) -> None:
        wire = Wire()
        wire.outbox.connected("node-1")
        wire.post("a")
        wire.outbox.pause()
        wire.post("b")
        self.assertEqual(wire.sent, ["a"])
        wire.outbox.resume()
        self.assertEqual(wire.sent, ["a", "a", "b"])

    def test_sending_waits_while_the_socket_is_full(self) -> None:
        wire = Wire()
        wire.outbox.connected("node-1")
        wire.buffered = 2_000
        wire.post("a")
        self.assertEqual(wire.sent, [])
        wire.buffered = 0
        wire.outbox.confirmed(wire.pings[0])
        self.assertEqual(wire.sent, ["a"])

    def test_the_oldest_result_beyond_count_or_bytes_is_dropped(self) -> None:
        few, small = Wire(max_results=2), Wire(max_bytes=200)
        for name in ("a", "b", "c", "d"):
            few.post(name)
        for name in ("a", "b", "c"):
            small.post(name, 100)
        self.assertEqual(few.dropped, ["a", "b"])
        self.assertEqual(small.dropped, ["a", "b"])
        small.post("huge", 1_000)
        self.assertEqual(small.outbox.kept, 0)

    def test_sent_results_are_evicted_first_and_do_not_count_as_dropped(self) -> None:
        wire = Wire(max_results=2)
        wire.outbox.connected("node-1")
        for name in ("a", "b", "c"):
            wire.post(name)
        self.assertEqual((wire.outbox.kept, wire.outbox.dropped), (2, 0))

    def test_a_result_is_dropped_after_five_failed_sends(self) -> None:
        wire = Wire()
        wire.post("a")
        for _ in range(6):
            wire.outbox.connected("node-1")
            wire.outbox.lost(1006)
        self.assertEqual((len(wire.sent), wire.dropped), (5, ["a"]))

    def test_the_longest_result_is_dropped_when_the_scheduler_rejects_one_as_too_long(self) -> None:
        wire = Wire()
        wire.outbox.connected("node-1")
        wire.post("short")
        wire.post("long", 500)
        wire.outbox.lost(1009)
        self.assertEqual((wire.dropped, wire.outbox.unsent_job_ids()), (["long"], ["short"]))

    def test_settled_returns_when_all_is_confirmed_or_the_outbox_closes(self) -> None:
        async def story() -> None:
            wire = Wire()
            await wire.outbox.settled()
            wire.outbox.connected("node-1")
            wire.post("a")
            arrived: Any = asyncio.ensure_future(wire.outbox.settled())
            await asyncio.sleep(0)
            self.assertFalse(arrived.done())
            wire.outbox.confirmed("1")
            await arrived
            wire.post("b")
            closed: Any = asyncio.ensure_future(wire.outbox.settled())
            await asyncio.sleep(0)
            wire.outbox.close()
            await closed

        asyncio.run(story())


if __name__ == "__main__":
    unittest.main()
