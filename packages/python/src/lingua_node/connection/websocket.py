"""One WebSocket connection over asyncio streams.

The frames are those of the package `websockets`, through its interface without I/O: that interface has had one form
since 10.0, and only the name of its class changed. It also gives what the ready-made client of 10.4 does not: the body
of a refused upgrade, and every received byte as a sign of life.
"""

from __future__ import annotations

import asyncio
import importlib
import ssl
from typing import Any, Callable, NamedTuple, Optional, Tuple, Union, cast
from urllib.parse import urlsplit

from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

NORMAL = 1000
ABNORMAL = 1006
INVALID_DATA = 1007

#: Given to each read of the stream.
READ_BYTES = 65_536
#: How long the other side may take to answer the close frame.
CLOSE_TIMEOUT_S = 1.0


class Text(NamedTuple):
    text: str


class Pong(NamedTuple):
    data: str


class Closed(NamedTuple):
    code: int
    reason: str


Event = Union[Text, Pong, Closed]


class UpgradeRefused(Exception):
    """The server answered, but with something else than a WebSocket."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"the server answered {status}")
        self.status = status
        self.body = body


def protocol_class() -> Callable[..., Any]:
    """`ClientProtocol` since websockets 11, `ClientConnection` before."""
    client = importlib.import_module("websockets.client")
    found = getattr(client, "ClientProtocol", None) or getattr(client, "ClientConnection")
    return cast(Callable[..., Any], found)


class WebSocket:
    """An open WebSocket. `send_text` and `ping` never wait; `buffered_bytes` tells how much is not sent yet."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: Any) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = protocol
        self._parts: "list[bytes]" = []
        self._pending: "list[Event]" = []
        self._is_ended = False
        #: All bytes that were ever received: the liveness check compares it.
        self.bytes_read = 0

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        token: Optional[str],
        max_message_bytes: int,
        context: Optional[ssl.SSLContext],
    ) -> "WebSocket":
        """Raises UpgradeRefused if the server answers without upgrading, and OSError if it cannot be reached."""
        host, port, is_secure = address_of(url)
        tls = (context or ssl.create_default_context()) if is_secure else None
        reader, writer = await asyncio.open_connection(
            host, port, ssl=tls, server_hostname=host if is_secure else None
        )
        protocol = protocol_class()(parse_uri(url), max_size=max_message_bytes)
        socket = cls(reader, writer, protocol)
        try:
            await socket._shake_hands(token)
        except BaseException:
            socket.cut()
            raise
        return socket

    async def _shake_hands(self, token: Optional[str]) -> None:
        request = self._protocol.connect()
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        self._protocol.send_request(request)
        self._flush()
        while True:
            await self._read()
            for event in self._protocol.events_received():
                if isinstance(event, Response):
                    if event.status_code != 101:
                        raise UpgradeRefused(event.status_code, bytes(event.body or b""))
                else:
                    self._take(event)
            if self._protocol.handshake_exc is not None:
                raise OSError(f"the upgrade to a WebSocket failed: {self._protocol.handshake_exc}")
            if self._protocol.state.name == "OPEN":
                return
            if self._is_ended:
                raise OSError("the connection ended before the upgrade to a WebSocket")

    async def receive(self) -> Event:
        """The next text or pong; Closed at the end, and again after it."""
        while not self._pending:
            if self._is_ended:
                return self._closed()
            await self._read()
            for event in self._protocol.events_received():
                self._take(event)
        return self._pending.pop(0)

    def _closed(self) -> Closed:
        code = self._protocol.close_code
        return Closed(ABNORMAL if code is None else int(code), self._protocol.close_reason or "")

    async def _read(self) -> None:
        try:
            data = await self._reader.read(READ_BYTES)
        except OSError:
            data = b""
        if data:
            self.bytes_read += len(data)
            self._protocol.receive_data(data)
        else:
            self._is_ended = True
            self._protocol.receive_eof()
        self._flush()

    def _take(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PONG:
            self._pending.append(Pong(bytes(frame.data).decode("utf-8", "replace")))
        elif frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._take_part(frame)

    def _take_part(self, frame: Frame) -> None:
        if frame.opcode is not Opcode.CONT:
            self._is_text = frame.opcode is Opcode.TEXT
            self._parts = []
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return
        data = b"".join(self._parts)
        self._parts = []
        # The protocol has no binary messages: a scheduler that sends one is newer than this program.
        if not self._is_text:
            return
        try:
            self._pending.append(Text(data.decode("utf-8")))
        except UnicodeDecodeError:
            self._protocol.fail(INVALID_DATA, "the text is not UTF-8")
            self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
            elif self._writer.can_write_eof():
                try:
                    self._writer.write_eof()
                except OSError:
                    pass  # The other side has closed already; the next read tells.

    @property
    def is_open(self) -> bool:
        return bool(self._protocol.state.name == "OPEN") and not self._writer.transport.is_closing()

    def send_text(self, text: str) -> bool:
        """False: the socket is not open, and nothing was sent."""
        if not self.is_open:
            return False
        # A lone half of a surrogate pair has no UTF-8.
        self._protocol.send_text(text.encode("utf-8", "replace"))
        self._flush()
        return True

    def ping(self, data: str) -> None:
        if self.is_open:
            self._protocol.send_ping(data.encode())
            self._flush()

    def buffered_bytes(self) -> int:
        return self._writer.transport.get_write_buffer_size()

    def leave(self, code: int, reason: str) -> None:
        """Sends a close frame; `receive` returns Closed when the other side has answered."""
        if self.is_open:
            self._protocol.send_close(code, reason)
            self._flush()

    def cut(self) -> None:
        """Drops the connection without a close frame."""
        self._writer.transport.abort()

    async def close(self, code: int, reason: str) -> None:
        self.leave(code, reason)
        try:
            await asyncio.wait_for(self._read_to_the_end(), CLOSE_TIMEOUT_S)
        except asyncio.TimeoutError:
            pass
        self.cut()

    async def _read_to_the_end(self) -> None:
        while not isinstance(await self.receive(), Closed):
            pass


def address_of(url: str) -> Tuple[str, int, bool]:
    parts = urlsplit(url)
    is_secure = parts.scheme == "wss"
    return parts.hostname or "", parts.port or (443 if is_secure else 80), is_secure
