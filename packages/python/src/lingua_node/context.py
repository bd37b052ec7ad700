"""What a job handler gets beside the job."""

from __future__ import annotations

import asyncio
from typing import Awaitable, Callable, Optional

from .errors import JobError
from .messages import JobAssign
from .trace import TraceContext, trace_context


class JobContext:
    """For an `async def` handler. A cancelled job cancels its task: `await` raises asyncio.CancelledError."""

    def __init__(
        self,
        job: JobAssign,
        *,
        send_partial: Callable[[str, bool], None],
        send_texts: Callable[[Optional[str], Optional[str]], None],
        fetch_audio: Callable[[], Awaitable[bytes]],
    ) -> None:
        self._job = job
        self._send_partial = send_partial
        self._send_texts = send_texts
        self._fetch_audio = fetch_audio
        self._fetching: "Optional[asyncio.Future[bytes]]" = None
        #: Why the job is cancelled, as the scheduler will see it.
        self.cancel_reason: Optional[JobError] = None

    @property
    def cancelled(self) -> bool:
        """True once the job is cancelled, its deadline has passed, or the node stops."""
        return self.cancel_reason is not None

    @property
    def trace(self) -> TraceContext:
        return trace_context(self._job)

    def partial(self, text: str, is_final: bool = False) -> None:
        """Sends the text recognised so far."""
        self._send_partial(text, is_final)

    def texts(self, text_asr: Optional[str] = None, text_translated: Optional[str] = None) -> None:
        """Tells the final texts before the voice is made, if the node supports `stage_results`.

        Clients need not wait for the sound. The result has the same texts.
        """
        self._send_texts(text_asr, text_translated)

    async def audio(self) -> bytes:
        """The audio of the utterance, inline or fetched; fetched at most once.

        The bytes are as the session sent them: opus is a run of `[u16 little-endian length][packet]`, pcm16 is 16-bit
        mono.
        """
        if self._fetching is None:
            self._fetching = asyncio.ensure_future(self._fetch_audio())
            # A handler that does not await the audio must not cause a warning when the fetch fails.
            self._fetching.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._fetching)

    def end(self) -> None:
        """Called by the SDK when the job has ended."""
        if self._fetching is not None:
            self._fetching.cancel()


class BlockingJobContext:
    """For a plain function, which runs on a thread of its own. A thread cannot be ended from outside.

    So a long computation asks `cancelled` now and then, or calls `raise_if_cancelled`.
    """

    def __init__(self, inner: JobContext, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def cancelled(self) -> bool:
        """True once the job is cancelled, its deadline has passed, or the node stops."""
        return self._inner.cancelled

    @property
    def trace(self) -> TraceContext:
        return self._inner.trace

    def raise_if_cancelled(self) -> None:
        if self._inner.cancel_reason is not None:
            raise self._inner.cancel_reason

    def partial(self, text: str, is_final: bool = False) -> None:
        """Sends the text recognised so far."""
        try:
            self._loop.call_soon_threadsafe(self._inner.partial, text, is_final)
        except RuntimeError:
            pass  # The loop has ended, and the node with it.

    def texts(self, text_asr: Optional[str] = None, text_translated: Optional[str] = None) -> None:
        """Tells the final texts before the voice is made, if the node supports `stage_results`."""
        try:
            self._loop.call_soon_threadsafe(self._inner.texts, text_asr, text_translated)
        except RuntimeError:
            pass  # The loop has ended, and the node with it.

    def audio(self) -> bytes:
        """Waits for the audio of the utterance, inline or fetched; fetched at most once."""
        return asyncio.run_coroutine_threadsafe(self._inner.audio(), self._loop).result()
