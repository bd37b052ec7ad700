"""A node's connection: registers after every connect, and reconnects after every loss."""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional

from .backoff import next_try
from ..errors import StartError
from ..options import Limits, Timings
from ..protocol import parse_message, to_json
from .refusal import refused_registration, refused_upgrade
from .websocket import ABNORMAL, NORMAL, Closed, Text, UpgradeRefused, WebSocket

#: Two checks per ping interval: the third silent one comes at most two intervals after the last byte, and leaves the
#: other side one interval to answer a ping. Checks are counted instead of time: after a long pause of this process the
#: answers still wait in the socket.
CHECKS_PER_INTERVAL = 2
MOST_SILENT_CHECKS = 3


@dataclass(frozen=True)
class LinkEvents:
    build_first_message: Callable[[Optional[str]], Dict[str, Any]]
    on_connected: Callable[[], None]
    on_registered: Callable[[Dict[str, Any]], None]
    #: Called only while registered.
    on_message: Callable[[Dict[str, Any]], None]
    on_pong: Callable[[str], None]
    #: The close code and the reason.
    on_lost: Callable[[int, str], None]
    #: The node was never registered, and a retry would not help; the link has ended.
    on_refused: Callable[[StartError], None]


class Link:
    def __init__(
        self,
        *,
        url: str,
        token: Optional[str],
        node_id: Optional[str],
        timings: Timings,
        limits: Limits,
        context: Optional[ssl.SSLContext],
        chance: Callable[[], float],
        log: logging.Logger,
        events: LinkEvents,
    ) -> None:
        self._url = url
        self._token = token
        #: The id of the last registration, or the configured one.
        self.node_id = node_id
        self._timings = timings
        self._limits = limits
        self._context = context
        self._chance = chance
        self._log = log
        self._events = events
        self._socket: Optional[WebSocket] = None
        self._registered_at: Optional[float] = None
        self._registrations = 0
        self._failures = 0
        self._is_closed = False
        self._task: "Optional[asyncio.Task[None]]" = None
        #: Invalid frames from the scheduler.
        self.invalid_frames = 0

    def open(self) -> None:
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())

    @property
    def is_registered(self) -> bool:
        return self._registered_at is not None

    @property
    def reconnects(self) -> int:
        return max(0, self._registrations - 1)

    def send(self, text: str) -> bool:
        """False: the node is not registered now."""
        return self.is_registered and self._socket is not None and self._socket.send_text(text)

    def ping(self, data: str) -> None:
        if self._socket is not None:
            self._socket.ping(data)

    def buffered_bytes(self) -> int:
        return 0 if self._socket is None else self._socket.buffered_bytes()

    def rejoin(self) -> None:
        """Disconnects and reconnects immediately."""
        self._failures = 0
        if self._socket is not None:
            self._socket.leave(NORMAL, "reconnect")

    def cut(self) -> None:
        """Drops the connection without a close frame, for ever."""
        self._is_closed = True
        if self._socket is not None:
            self._socket.cut()
        if self._task is not None:
            self._task.cancel()

    async def close(self, code: int, reason: str) -> None:
        self._is_closed = True
        self._registered_at = None
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._socket is not None:
            await self._socket.close(code, reason)

    async def _run(self) -> None:
        while not self._is_closed:
            loss = await self._connect_and_read()
            if self._is_closed:
                return
            registered_s = 0.0 if self._registered_at is None else time.monotonic() - self._registered_at
            self._registered_at = None
            self._socket = None
            again = next_try(
                self._failures,
                close_code=loss.code,
                registered_s=registered_s,
                chance=self._chance(),
                first_s=self._timings.first_retry_s,
                longest_s=self._timings.longest_retry_s,
                stable_after_s=self._timings.stable_after_s,
            )
            self._failures = again.failures
            why = f" ({loss.reason})" if loss.reason else ""
            self._log.warning("not connected: %d%s; retry in %.2f s", loss.code, why, again.delay_s)
            self._events.on_lost(loss.code, loss.reason)
            await asyncio.sleep(again.delay_s)

    async def _connect_and_read(self) -> Closed:
        timers: "list[asyncio.Task[None]]" = []
        try:
            opening = WebSocket.open(
                self._url,
                token=self._token,
                max_message_bytes=self._limits.max_message_bytes,
                context=self._context,
            )
            socket = await asyncio.wait_for(opening, self._timings.connect_timeout_s)
            self._socket = socket
            timers.append(asyncio.ensure_future(self._watch(socket)))
            timers.append(asyncio.ensure_future(self._expect_answer(socket)))
            socket.send_text(to_json(self._events.build_first_message(self.node_id)))
            self._events.on_connected()
            return await self._read(socket)
        except UpgradeRefused as refused:
            reason, error = refused_upgrade(self._url, refused.status, refused.body)
            self._log.error("the scheduler refused the connection: %s", reason)
            self._refuse(error)
            return Closed(ABNORMAL, reason)
        except asyncio.TimeoutError:
            return Closed(ABNORMAL, f"no connection within {self._timings.connect_timeout_s:g} s")
        except (OSError, EOFError, ValueError) as error:
            return Closed(ABNORMAL, f"the connection failed: {error or type(error).__name__}")
        finally:
            for timer in timers:
                timer.cancel()

    async def _read(self, socket: WebSocket) -> Closed:
        while not self._is_closed:
            event = await socket.receive()
            if isinstance(event, Closed):
                socket.cut()
                return event
            if isinstance(event, Text):
                self._receive(event.text)
            else:
                self._events.on_pong(event.data)
        await socket.close(NORMAL, "")
        return Closed(NORMAL, "")

    async def _watch(self, socket: WebSocket) -> None:
        """Detects a connection that is dead although no side closed it."""
        seen = socket.bytes_read
        silent_checks = 0
        is_ping_due = True
        while True:
            await asyncio.sleep(self._timings.ping_interval_s / CHECKS_PER_INTERVAL)
            silent_checks = silent_checks + 1 if socket.bytes_read == seen else 0
            seen = socket.bytes_read
            if silent_checks >= MOST_SILENT_CHECKS:
                socket.cut()
                return
            if is_ping_due:
                socket.ping("")
            is_ping_due = not is_ping_due

    async def _expect_answer(self, socket: WebSocket) -> None:
        await asyncio.sleep(self._timings.register_timeout_s)
        if not self.is_registered:
            self._log.warning("the scheduler does not answer the registration")
            socket.cut()

    def _receive(self, text: str) -> None:
        message, problem = parse_message(text)
        if problem is not None:
            self.invalid_frames += 1
            # An unknown type means a newer scheduler, not an error.
            is_unknown = problem.path == "/type"
            level = logging.DEBUG if is_unknown else logging.WARNING
            self._log.log(level, "ignored a message of the scheduler: %s", problem.message)
        elif message is not None:
            self._dispatch(message)

    def _dispatch(self, message: Dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "node_register_ack":
            self._registered(message)
        elif self.is_registered:
            self._events.on_message(message)
        elif kind == "error":
            self._log.error("the scheduler refused the registration: %(code)s: %(message)s", message)
            self._refuse(refused_registration(message["code"], message["message"]))
        else:
            self._log.warning("ignored a message that arrived before the registration: %s", kind)

    def _registered(self, ack: Dict[str, Any]) -> None:
        if self.node_id is not None and self.node_id != ack["node_id"]:
            self._log.warning("asked for the id %s; the scheduler assigned %s", self.node_id, ack["node_id"])
        self.node_id = str(ack["node_id"])
        if self._registered_at is None:
            self._registrations += 1
        self._registered_at = time.monotonic()
        self._log.info("registered as %s: %s", self.node_id, ack["status"])
        self._events.on_registered(ack)

    def _refuse(self, error: Optional[StartError]) -> None:
        """A node that was registered goes on trying: its scheduler may be configured right again."""
        if error is None or self._registrations > 0:
            return
        self._is_closed = True
        self._events.on_refused(error)
