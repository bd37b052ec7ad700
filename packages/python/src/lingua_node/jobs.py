"""Runs the jobs of a node: within its slots, each only once, and each ends with one result."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Awaitable, Callable, Dict, List, Optional, Sequence, Union, cast

from . import job_messages
from .audio import AudioFetcher
from .context import BlockingJobContext, JobContext
from .errors import JobError
from .job_messages import Worked
from .messages import JobAssign, JobOutput
from .recent_results import RecentResults

AsyncHandler = Callable[[JobAssign, JobContext], Awaitable[JobOutput]]
BlockingHandler = Callable[[JobAssign, BlockingJobContext], JobOutput]
JobHandler = Union[AsyncHandler, BlockingHandler]


class Run:
    def __init__(self, job: JobAssign, context: JobContext) -> None:
        self.job = job
        self.context = context
        self.started_at = now_ms()
        #: Set once the scheduler has cancelled the job.
        self.cancelled: Optional[JobError] = None
        self.handling: "Optional[asyncio.Future[JobOutput]]" = None

    def abort(self, why: JobError) -> None:
        if self.context.cancel_reason is None:
            self.context.cancel_reason = why
        if self.handling is not None:
            self.handling.cancel()


class JobRunner:
    def __init__(
        self,
        *,
        max_concurrent_jobs: int,
        supports: Sequence[str],
        on_job: JobHandler,
        audio: AudioFetcher,
        node_id: Callable[[], str],
        report: Callable[[Dict[str, Any]], None],
        post: Callable[[Dict[str, Any]], int],
        recent_results: RecentResults,
        log: logging.Logger,
    ) -> None:
        self._max = max_concurrent_jobs
        self._is_acknowledging = "job_ack" in supports
        self._confirms_cancelling = "cancel_ack" in supports
        self._tells_texts = "stage_results" in supports
        self._on_job = on_job
        self._audio = audio
        self._node_id = node_id
        #: May be lost.
        self._report = report
        #: Must be delivered; returns the size in bytes.
        self._post = post
        self._recent_results = recent_results
        self._log = log
        self._threads = None if is_async(on_job) else ThreadPoolExecutor(max_concurrent_jobs, "lingua-job")
        self._runs: Dict[str, Run] = {}
        self._tasks: "set[asyncio.Task[None]]" = set()
        self._is_open = True
        self._waiters: "List[asyncio.Future[None]]" = []
        self.counts = dict.fromkeys(("jobs", "succeeded", "failed", "cancelled", "refused", "duplicates"), 0)

    def assign(self, job: JobAssign) -> None:
        if self._repeats(job):
            return
        if not self._is_open or len(self._runs) >= self._max:
            self._refuse(job)
            return
        self.counts["jobs"] += 1
        run = Run(job, self._context(job))
        self._runs[job["job_id"]] = run
        self._acknowledge(job)
        task = asyncio.ensure_future(self._work(run))
        # The loop keeps only a weak reference.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self, job_id: str, reason: Optional[str]) -> None:
        run = self._runs.get(job_id)
        if run is None or run.cancelled is not None:
            return
        run.cancelled = JobError("JOB_CANCELLED", reason or "the job was cancelled")
        run.abort(run.cancelled)

    def close(self) -> None:
        """Accepts no more jobs."""
        self._is_open = False

    def reopen(self) -> None:
        self._is_open = True

    def abort_all(self, why: JobError) -> None:
        for run in list(self._runs.values()):
            run.abort(why)

    def end(self) -> None:
        """Threads that still run are left alone."""
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    def running_job_ids(self) -> List[str]:
        return list(self._runs)

    async def idle(self) -> None:
        """Returns when no job is running."""
        if self._runs:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def _context(self, job: JobAssign) -> JobContext:
        def send_partial(text: str, is_final: bool) -> None:
            run = self._runs.get(job["job_id"])
            if run is not None and run.context is context and not context.cancelled:
                self._report(job_messages.asr_partial(job, self._node_id(), text, is_final))

        def send_texts(text_asr: Optional[str], text_translated: Optional[str]) -> None:
            run = self._runs.get(job["job_id"])
            if self._tells_texts and run is not None and run.context is context and not context.cancelled:
                self._report(job_messages.job_text(run.job, self._node_id(), text_asr, text_translated))

        context = JobContext(
            job,
            send_partial=send_partial,
            send_texts=send_texts,
            fetch_audio=lambda: self._audio.audio(job),
        )
        return context

    def _acknowledge(self, job: JobAssign) -> None:
        if self._is_acknowledging:
            self._report(job_messages.job_ack(job, self._node_id()))

    def _refuse(self, job: JobAssign) -> None:
        self.counts["refused"] += 1
        running = len(self._runs)
        error = JobError(
            "NODE_OVERLOADED",
            "no free slot" if self._is_open else "the node is draining",
            {"running": running, "max": self._max if self._is_open else min(running, self._max)},
        )
        now = now_ms()
        # Not remembered: the same job may arrive again when a slot is free.
        self._post(job_messages.failed(job, Worked(self._node_id(), now, now), error))

    def _repeats(self, job: JobAssign) -> bool:
        """True if the job was received before."""
        run = self._runs.get(job["job_id"])
        answer = None
        if run is None:
            answer = self._recent_results.recall(job["job_id"], job["attempt_id"])
            if answer is None:
                return False
        self.counts["duplicates"] += 1
        is_later = run is not None and job["attempt_id"] > run.job["attempt_id"]
        if run is not None and run.cancelled is not None and is_later:
            # The old attempt is still ending; its cancellation must not become the outcome of the new one.
            self._refuse(job)
            return True
        self._acknowledge(job)
        if answer is not None:
            self._post({**answer, "node_id": self._node_id()})
        elif run is not None and is_later:
            run.job = job
        return True

    async def _work(self, run: Run) -> None:
        deadline = self._arm_deadline(run)
        if self._is_acknowledging:
            self._report(job_messages.job_started(run.job, self._node_id()))
        try:
            output = await self._handle(run)
            result = job_messages.succeeded(run.job, self._worked(run), output)
        except BaseException as thrown:
            error = failure_of(thrown, run.context)
            is_expected = isinstance(thrown, (JobError, asyncio.CancelledError))
            details = None if is_expected else thrown
            self._log.warning("job %s failed: %s: %s", run.job["job_id"], error.code, error, exc_info=details)
            result = job_messages.failed(run.job, self._worked(run), error)
        if deadline is not None:
            deadline.cancel()
        run.context.end()
        self._end(run, result)

    async def _handle(self, run: Run) -> Any:
        """Waits until the handler has really ended: a cancelled one keeps its slot until then."""
        loop = asyncio.get_running_loop()
        called: "asyncio.Future[JobOutput]"
        if self._threads is None:
            called = asyncio.ensure_future(cast(AsyncHandler, self._on_job)(run.job, run.context))
            run.handling = called
            if run.context.cancelled:
                called.cancel()
        else:
            context = BlockingJobContext(run.context, loop)
            handler = cast(BlockingHandler, self._on_job)
            called = loop.run_in_executor(self._threads, handler, run.job, context)
        # Not awaited directly: the cancellation of the handler must not look like one of this task.
        await asyncio.wait([called])
        return called.result()

    def _arm_deadline(self, run: Run) -> Optional[asyncio.TimerHandle]:
        deadline = run.job.get("deadline_ms")
        if deadline is None:
            return None
        left_ms = deadline - now_ms()
        if left_ms <= 0:
            # Schedulers do not send expired jobs, so the clocks differ; failing every job would be worse.
            message = "the deadline of job %s passed %d ms before it arrived: check this machine's clock"
            self._log.warning(message, run.job["job_id"], -left_ms)
            return None
        error = JobError("JOB_TIMEOUT", "the deadline of the job has passed")
        return asyncio.get_running_loop().call_later(left_ms / 1000, run.abort, error)

    def _worked(self, run: Run) -> Worked:
        return Worked(self._node_id(), run.started_at, now_ms())

    def _end(self, run: Run, result: Dict[str, Any]) -> None:
        del self._runs[run.job["job_id"]]
        if run.cancelled is not None:
            self.counts["cancelled"] += 1
            result = job_messages.failed(run.job, self._worked(run), run.cancelled)
        else:
            self.counts["succeeded" if result["success"] else "failed"] += 1
        if run.cancelled is None or self._confirms_cancelling:
            self._recent_results.remember(result, self._post(result))
        if not self._runs:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)


def is_async(handler: object) -> bool:
    """True for `async def`, also in a partial or as the `__call__` of an object."""
    call = getattr(type(handler), "__call__", None)
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(call)


def failure_of(thrown: BaseException, context: JobContext) -> JobError:
    """Why an attempt failed: the handler's own JobError, the reason of the cancelling, or PROCESSING_ERROR."""
    if isinstance(thrown, JobError):
        return thrown
    if context.cancel_reason is not None:
        return context.cancel_reason
    if isinstance(thrown, asyncio.CancelledError):
        return JobError("PROCESSING_ERROR", "the job handler cancelled itself")
    return JobError("PROCESSING_ERROR", str(thrown) or type(thrown).__name__)


def now_ms() -> int:
    return int(time.time() * 1000)
