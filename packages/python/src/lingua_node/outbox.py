"""Keeps results until the scheduler has read them. Bounded in number and bytes."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass
from typing import Any, Callable, Deque, Dict, List, Optional

from .protocol import to_json

MESSAGE_TOO_BIG = 1009
#: A result that breaks the connection each time it is sent is dropped after this many sends.
MAX_SENDS = 5


@dataclass
class Entry:
    job_id: str
    text: str
    size: int
    sends: int = 0
    mark: int = 0


class Outbox:
    def __init__(
        self,
        *,
        send: Callable[[str], bool],
        ping: Callable[[str], None],
        buffered_bytes: Callable[[], int],
        max_results: int,
        max_bytes: int,
        max_buffered_bytes: int,
        on_dropped: Callable[[str, str], None],
    ) -> None:
        self._send = send
        self._ping = ping
        self._buffered_bytes = buffered_bytes
        self._max_results = max_results
        self._max_bytes = max_bytes
        self._max_buffered_bytes = max_buffered_bytes
        self._on_dropped = on_dropped
        self._unsent: Deque[Entry] = deque()
        self._unconfirmed: Deque[Entry] = deque()
        self._known_as: Optional[str] = None
        self._is_connected = False
        self._is_paused = False
        self._is_ping_pending = False
        #: A foreign pong arrived while ours is pending; after a second one ours is considered lost.
        self._has_foreign_pong = False
        self._mark = 0
        self._bytes = 0
        self._waiters: List["asyncio.Future[None]"] = []
        #: Results that were dropped before they were sent.
        self.dropped = 0
        #: Sent again after a loss of the connection.
        self.resent = 0

    @property
    def kept(self) -> int:
        """Results whose delivery is unconfirmed."""
        return len(self._unsent) + len(self._unconfirmed)

    def post(self, job_id: str, message: Dict[str, Any]) -> int:
        """Adds a result, and sends it as soon as possible. Returns its size in bytes."""
        text = to_json(message)
        entry = Entry(job_id, text, len(text.encode("utf-8", "replace")))
        self._unsent.append(entry)
        self._bytes += entry.size
        self._pump()
        self._trim()
        return entry.size

    def connected(self, node_id: str) -> None:
        """The node is registered, perhaps under a new id: sends all kept results."""
        self._is_connected = True
        self._is_paused = False
        if self._known_as is not None and self._known_as != node_id:
            for entry in self._unsent:
                entry.text = to_json({**json.loads(entry.text), "node_id": node_id})
        self._known_as = node_id
        self._pump()

    def lost(self, close_code: int) -> None:
        """The connection is lost; unconfirmed results must be sent again."""
        self._is_connected = False
        self._is_ping_pending = False
        if close_code == MESSAGE_TOO_BIG and self._unconfirmed:
            largest = max(self._unconfirmed, key=lambda entry: entry.size)
            self._unconfirmed.remove(largest)
            self._drop(largest, "the scheduler rejects it as too long")
        for entry in self._unconfirmed:
            if entry.sends >= MAX_SENDS:
                self._drop(entry, f"it was sent {entry.sends} times without success")
        again = [entry for entry in self._unconfirmed if entry.sends < MAX_SENDS]
        self._unconfirmed.clear()
        self._unsent.extendleft(reversed(again))
        if not self._unsent:
            self._settle()

    def confirmed(self, data: str) -> None:
        """A pong arrived."""
        # Pings of the liveness check carry no data.
        up_to = int(data) if data.isdigit() else None
        if up_to is None and not (self._is_ping_pending and self._has_foreign_pong):
            self._has_foreign_pong = self._is_ping_pending
            return
        self._is_ping_pending = False
        while up_to is not None and self._unconfirmed and self._unconfirmed[0].mark <= up_to:
            self._bytes -= self._unconfirmed.popleft().size
        self._pump()

    def pause(self) -> None:
        """The scheduler drops messages: unconfirmed results are kept, and nothing is sent until `resume`."""
        self._is_paused = True
        self._is_ping_pending = False
        self._unsent.extendleft(reversed(self._unconfirmed))
        self._unconfirmed.clear()

    def resume(self) -> None:
        self._is_paused = False
        self._pump()

    def unsent_job_ids(self) -> List[str]:
        """Jobs whose result was not sent on this connection."""
        return [entry.job_id for entry in self._unsent]

    def kept_job_ids(self) -> List[str]:
        """Jobs whose result may be undelivered."""
        return [entry.job_id for entry in [*self._unconfirmed, *self._unsent]]

    async def settled(self) -> None:
        """Returns when no result is kept, or the outbox is closed."""
        if self.kept > 0:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def close(self) -> None:
        """Sends no more."""
        self._is_connected = False
        self._settle()

    def _pump(self) -> None:
        while self._can_send() and self._unsent and self._buffered_bytes() <= self._max_buffered_bytes:
            entry = self._unsent[0]
            if not self._send(entry.text):
                break
            self._unsent.popleft()
            if entry.sends > 0:
                self.resent += 1
            entry.sends += 1
            self._mark += 1
            entry.mark = self._mark
            self._unconfirmed.append(entry)
        if self.kept == 0:
            self._settle()
        # The protocol does not confirm results. Frames are read in order, so a pong confirms everything sent before its
        # ping; after a full socket it also shows that there is space again.
        elif self._can_send() and not self._is_ping_pending:
            self._is_ping_pending = True
            self._has_foreign_pong = False
            self._ping(str(self._mark))

    def _can_send(self) -> bool:
        return self._is_connected and not self._is_paused

    def _trim(self) -> None:
        while self.kept > self._max_results or self._bytes > self._max_bytes:
            # A sent result has probably arrived: dropping it only loses the second try.
            if self._unconfirmed:
                self._bytes -= self._unconfirmed.popleft().size
            elif self._unsent:
                self._drop(self._unsent.popleft(), "too many results are kept")
            else:
                return

    def _drop(self, entry: Entry, why: str) -> None:
        self._bytes -= entry.size
        self.dropped += 1
        self._on_dropped(entry.job_id, why)

    def _settle(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
