"""The bytes of a job's audio: inline, or fetched from the instance that holds them."""

from __future__ import annotations

import asyncio
import base64
import binascii
import http.client
import socket
import ssl
from typing import Mapping, Optional
from urllib.parse import SplitResult, urljoin, urlsplit

from .errors import JobError
from .messages import AudioRef, JobAssign

READ_BYTES = 65_536


class AudioFetcher:
    def __init__(
        self, *, scheduler_url: str, max_bytes: int, timeout_s: float, context: Optional[ssl.SSLContext]
    ) -> None:
        #: A reference without a host is relative to it.
        self._base = "http" + scheduler_url[len("ws") :]
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s
        self._context = context

    async def audio(self, job: JobAssign) -> bytes:
        ref = job.get("audio_ref")
        if ref is None:
            return _decoded(job["audio"])
        token = ref.get("token")
        # An external reference may point anywhere, also into this network: the author of the node decides whether to
        # fetch it.
        if token is None:
            message = 'the audio is at an external reference; read job["audio_ref"]["url"] yourself'
            raise JobError("PROCESSING_ERROR", message)
        return await self._fetched(ref, token)

    async def _fetched(self, ref: AudioRef, token: str) -> bytes:
        size = ref.get("bytes")
        if size is not None and size > self._max_bytes:
            raise self._too_long(self._max_bytes)
        limit = self._max_bytes if size is None else size
        address = urlsplit(urljoin(self._base, ref["url"]))
        if address.scheme not in ("http", "https") or address.hostname is None:
            raise JobError("PROCESSING_ERROR", "the audio reference is not an http or https URL")
        connection = self._connection(address)
        fetching = asyncio.get_running_loop().run_in_executor(
            None, self._download, connection, address, token, limit
        )
        try:
            audio = await asyncio.wait_for(fetching, self._timeout_s)
        except asyncio.TimeoutError:
            message = f"the audio could not be fetched: timed out after {self._timeout_s:g} s"
            raise JobError("PROCESSING_ERROR", message) from None
        finally:
            _break(connection)
        if size is not None and len(audio) != size:
            raise JobError("AUDIO_LOST", f"the audio has {len(audio)} bytes instead of {size}")
        return audio

    def _connection(self, address: SplitResult) -> http.client.HTTPConnection:
        host = address.hostname or ""
        if address.scheme == "https":
            context = self._context or ssl.create_default_context()
            return http.client.HTTPSConnection(host, address.port, timeout=self._timeout_s, context=context)
        return http.client.HTTPConnection(host, address.port, timeout=self._timeout_s)

    def _download(
        self, connection: http.client.HTTPConnection, address: SplitResult, token: str, limit: int
    ) -> bytes:
        """Blocking, on a thread. Follows no redirect: the token is valid for this address only."""
        headers: Mapping[str, str] = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
        target = (address.path or "/") + (f"?{address.query}" if address.query else "")
        try:
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            if response.status != 200:
                raise _refused(response.status, response.reason)
            audio = bytearray()
            while True:
                part = response.read(READ_BYTES)
                if not part:
                    return bytes(audio)
                audio += part
                if len(audio) > limit:
                    raise self._too_long(limit)
        except http.client.IncompleteRead as error:
            raise JobError("AUDIO_LOST", f"the audio ended early: {error}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            message = f"the audio could not be fetched: {error or type(error).__name__}"
            raise JobError("PROCESSING_ERROR", message) from error

    def _too_long(self, limit: int) -> JobError:
        return JobError("PROCESSING_ERROR", f"the audio is longer than {limit} bytes")


def _refused(status: int, reason: str) -> JobError:
    code = "AUDIO_LOST" if status in (404, 410) else "PROCESSING_ERROR"
    return JobError(code, f"the audio could not be fetched: {status} {reason}".rstrip())


def _decoded(audio: str) -> bytes:
    try:
        return base64.b64decode(audio, validate=True)
    except binascii.Error as error:
        raise JobError("PROCESSING_ERROR", f"the audio is not base64: {error}") from error


def _break(connection: http.client.HTTPConnection) -> None:
    """Ends the read of a thread whose job was cancelled or timed out."""
    stream = getattr(connection, "sock", None)
    if stream is not None:
        try:
            stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It is closed already.
    connection.close()
