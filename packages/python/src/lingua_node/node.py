"""A GPU node: registers with the scheduler, runs jobs, and delivers results across lost connections."""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import signal
import ssl as tls
from typing import Any, Awaitable, Callable, Dict, Optional, Sequence, Union

from .audio import AudioFetcher
from .errors import JobError, StartError
from .heartbeat import CapabilitySource, Heartbeat, HeartbeatMessage, heartbeat_interval
from .jobs import JobHandler, JobRunner
from .connection.link import Link, LinkEvents
from .messages import ResourceUsage
from .metrics import Metrics
from .notices import LeavingHook, Notices
from .options import EXTENSIONS, Limits, Timings, check_options, check_service_types
from .outbox import Outbox
from .protocol import to_json
from .recent_results import RecentResults
from .registration import registration

#: How long a stopping node waits for its aborted jobs, and then for the delivery of its last results.
FINAL_RESULTS_S = 1.0
#: How long no result is sent after the scheduler reported dropped messages; it resets its count after a second.
SLOW_DOWN_S = 1.5

Callback = Union[None, Awaitable[None]]


class Node:
    """`on_job` is `async def on_job(job, ctx)`, or a plain function, which runs on a thread of its own.

    `capabilities` has the field names of node_register. As a function it is asked at each heartbeat. `supports` adds
    `text_input` if `on_job` works on `job["input_text"]` where a job has one. `resources` replaces the CPU and memory
    use of this machine, for example with that of the GPU. `on_metrics` gets the metrics at each heartbeat.

    `leaving_in_s` is asked every second: in how many seconds the machine is taken away, for example from the metadata
    of the cloud; None: not known to be. Then the node accepts no more jobs, and what it cannot finish in time moves to
    other nodes at once.
    """

    def __init__(
        self,
        *,
        url: str,
        max_concurrent_jobs: int,
        capabilities: CapabilitySource,
        on_job: JobHandler,
        token: Optional[str] = None,
        node_id: Optional[str] = None,
        supports: Sequence[str] = EXTENSIONS,
        resources: Optional[Callable[[], ResourceUsage]] = None,
        on_drain: Optional[Callable[[Optional[str]], Callback]] = None,
        on_status: Optional[Callable[[str, Optional[str]], Callback]] = None,
        on_command: Optional[Callable[[str, Optional[str]], Callback]] = None,
        on_metrics: Optional[Callable[[Metrics], Callback]] = None,
        leaving_in_s: Optional[LeavingHook] = None,
        ssl: Optional[tls.SSLContext] = None,
        timings: Timings = Timings(),
        limits: Limits = Limits(),
        log: logging.Logger = logging.getLogger("lingua_node"),
        chance: Callable[[], float] = random.random,
    ) -> None:
        check_options(url, token, max_concurrent_jobs, on_job)
        self._max_concurrent_jobs = max_concurrent_jobs
        self._supports = list(supports)
        self._on_drain, self._on_status = on_drain, on_status
        self._on_command, self._on_metrics = on_command, on_metrics
        self._timings, self._limits, self._log = timings, limits, log
        self._is_draining = False
        self._is_ended = False
        self._unsent_reports = 0
        #: By the clock of the event loop.
        self._leaving_at: Optional[float] = None
        self._first: "Optional[asyncio.Future[None]]" = None
        self._draining: "Optional[asyncio.Task[None]]" = None
        self._stopping: "Optional[asyncio.Task[None]]" = None
        self._slowed: Optional[asyncio.TimerHandle] = None
        self._callbacks: "set[asyncio.Future[None]]" = set()
        self._heartbeat_message = HeartbeatMessage(capabilities, resources, log)
        self._heartbeat = Heartbeat(self._send_heartbeat, chance)
        self._notices = Notices(
            ask=leaving_in_s, interval_s=timings.notice_interval_s, leave=self._announce, log=log
        )
        self._link = Link(
            url=url,
            token=token,
            node_id=node_id,
            timings=timings,
            limits=limits,
            context=ssl,
            chance=chance,
            log=log,
            events=LinkEvents(
                build_first_message=self._registration,
                on_connected=lambda: self._status("registering", None),
                on_registered=self._registered,
                on_message=self._handle,
                on_pong=lambda data: self._outbox.confirmed(data),
                on_lost=self._lost,
                on_refused=self._refused,
            ),
        )
        self._outbox = Outbox(
            send=self._link.send,
            ping=self._link.ping,
            buffered_bytes=self._link.buffered_bytes,
            max_results=limits.max_kept_results,
            max_bytes=limits.max_kept_bytes,
            max_buffered_bytes=limits.max_buffered_bytes,
            on_dropped=lambda job_id, why: log.error("the result of job %s was dropped: %s", job_id, why),
        )
        self._jobs = JobRunner(
            max_concurrent_jobs=max_concurrent_jobs,
            supports=self._supports,
            on_job=on_job,
            audio=AudioFetcher(
                scheduler_url=url,
                max_bytes=limits.max_audio_bytes,
                timeout_s=timings.audio_timeout_s,
                context=ssl,
            ),
            node_id=self._id,
            report=self._report,
            post=lambda result: self._outbox.post(result["job_id"], result),
            recent_results=RecentResults(
                max_results=limits.max_remembered_results, max_bytes=limits.max_remembered_bytes
            ),
            log=log,
        )

    @property
    def node_id(self) -> Optional[str]:
        """The id of the node at the scheduler, once it is registered."""
        return self._link.node_id

    def metrics(self) -> Metrics:
        return Metrics(
            **self._jobs.counts,
            is_registered=self._link.is_registered,
            is_draining=self._is_draining,
            running=len(self._jobs.running_job_ids()),
            kept=self._outbox.kept,
            dropped=self._outbox.dropped,
            resent=self._outbox.resent,
            reconnects=self._link.reconnects,
            invalid_frames=self._link.invalid_frames,
            unsent_reports=self._unsent_reports,
        )

    async def start(self) -> None:
        """Returns when the scheduler has registered the node.

        Raises StartError if a retry would not help (a wrong token, a wrong url, an invalid registration); everything
        else is logged and tried again, without limit.
        """
        if self._stopping is not None or self._is_ended:
            raise RuntimeError("a stopped node cannot be started again; create another")
        check_service_types(self._heartbeat_message.capabilities())
        if self._first is None:
            self._first = asyncio.get_running_loop().create_future()
            # A caller that does not await start() must not get a warning when the node stops early.
            self._first.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._link.open()
            self._notices.start()
        await asyncio.shield(self._first)

    async def run(self, *, drain_s: float = 30.0) -> None:
        """Starts the node and returns when it has stopped.

        SIGTERM and SIGINT drain it first, for at most `drain_s`; a second signal stops it at once.
        """
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        signals = (signal.SIGTERM, signal.SIGINT)
        for number in signals:
            try:
                loop.add_signal_handler(number, self._signalled, ended, drain_s)
            except (NotImplementedError, RuntimeError, ValueError):
                pass  # Windows, or not the main thread: the caller stops the node.
        self._ended = ended
        try:
            starting = asyncio.ensure_future(self.start())
            await asyncio.wait([starting])
            error = starting.exception()
            if error is None:
                await ended.wait()
            elif not ended.is_set() or isinstance(error, StartError):
                raise error
        finally:
            for number in signals:
                try:
                    loop.remove_signal_handler(number)
                except (NotImplementedError, RuntimeError, ValueError):
                    pass  # It was not installed.
            await self.stop()

    def beat(self) -> None:
        """Sends a heartbeat now, for example after a model was loaded."""
        self._heartbeat.beat()

    async def drain(self) -> None:
        """Accepts no more jobs; returns when the running ones are done and their results are delivered."""
        await asyncio.shield(self._drain(None))

    async def leave(self, in_s: float) -> None:
        """The machine will be taken away in so many seconds: drains, and tells the scheduler when the node stops.

        Jobs that it cannot finish by then move to other nodes at once.
        """
        await asyncio.shield(self._announce(in_s))

    async def stop(self, grace_s: float = 5.0) -> None:
        """Waits for running jobs, cancels the rest, and closes the connection."""
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._leave(grace_s))
        await asyncio.shield(self._stopping)

    def kill(self) -> None:
        """Ends like a crash: no job is answered, the connection is cut. For tests and simulations."""
        self._end()
        self._link.cut()
        self._jobs.close()
        self._jobs.abort_all(JobError("NODE_UNAVAILABLE", "the node was killed"))

    def _id(self) -> str:
        """Called only after a registration, which sets the id."""
        return self._link.node_id or ""

    def _registration(self, node_id: Optional[str]) -> Dict[str, Any]:
        # A job with an undelivered result counts as running, so that the scheduler does not give it to another node.
        running = [*self._jobs.running_job_ids(), *self._outbox.kept_job_ids()]
        return registration(
            node_id=node_id,
            capabilities=self._heartbeat_message.capabilities(),
            max_concurrent_jobs=self._max_concurrent_jobs,
            supports=self._supports,
            running_job_ids=running,
        )

    def _registered(self, ack: Dict[str, Any]) -> None:
        usual_s = self._timings.heartbeat_interval_s
        self._heartbeat.start(heartbeat_interval(ack.get("heartbeat_interval_ms"), usual_s))
        self._outbox.connected(ack["node_id"])
        self._status(ack["status"], None)
        if self._first is not None and not self._first.done():
            self._first.set_result(None)

    def _lost(self, code: int, reason: str) -> None:
        self._heartbeat.stop()
        self._outbox.lost(code)
        self._status("offline", reason or None)

    def _refused(self, error: StartError) -> None:
        if self._first is not None and not self._first.done():
            self._first.set_exception(error)
        self._end()

    def _report(self, message: Dict[str, Any]) -> None:
        has_room = self._link.buffered_bytes() <= self._limits.max_buffered_bytes
        if not has_room or not self._link.send(to_json(message)):
            self._unsent_reports += 1

    def _send_heartbeat(self) -> None:
        try:
            message = self._heartbeat_message.next(
                node_id=self._id(),
                is_draining=self._is_draining,
                running=self._jobs.running_job_ids(),
                unsent=self._outbox.unsent_job_ids(),
                leaving_in_s=self._leaving_in_s(),
            )
            self._report(message)
        except (TypeError, ValueError):
            self._log.exception("the heartbeat cannot be sent: JSON cannot represent it")
        self._call("on_metrics", self._on_metrics, self.metrics())

    def _leaving_in_s(self) -> Optional[float]:
        return None if self._leaving_at is None else self._leaving_at - asyncio.get_running_loop().time()

    def _handle(self, message: Dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "job_assign":
            self._jobs.assign(message)  # type: ignore[arg-type]  # The schema was checked.
        elif kind == "job_cancel":
            self._jobs.cancel(message["job_id"], message.get("reason"))
        elif kind == "node_status":
            self._status(message["status"], message.get("reason"))
        elif kind == "node_control":
            self._execute(message["command"], message.get("reason"))
        elif kind == "error":
            self._log.warning("the scheduler reported an error: %(code)s: %(message)s", message)
            if message["code"] == "RATE_LIMITED":
                self._slow_down()

    def _slow_down(self) -> None:
        self._outbox.pause()
        if self._slowed is not None:
            self._slowed.cancel()
        self._slowed = asyncio.get_running_loop().call_later(SLOW_DOWN_S, self._outbox.resume)

    def _execute(self, command: str, reason: Optional[str]) -> None:
        self._log.info("received the command %s of the scheduler (%s)", command, reason or "no reason given")
        if command == "drain":
            self._drain(reason)
        elif command == "resume":
            self._resume()
        elif command == "reconnect":
            self._link.rejoin()
        elif command == "shutdown":
            self._keep(asyncio.ensure_future(self._shut_down(reason)))
        else:
            self._call("on_command", self._on_command, command, reason)

    async def _shut_down(self, reason: Optional[str]) -> None:
        await asyncio.shield(self._drain(reason))
        await self.stop()
        self._call("on_command", self._on_command, "shutdown", reason)

    def _drain(self, reason: Optional[str]) -> "asyncio.Task[None]":
        if self._draining is None:
            self._is_draining = True
            self._jobs.close()
            self._heartbeat.beat()
            self._draining = asyncio.ensure_future(self._finish_jobs())
            self._call("on_drain", self._on_drain, reason)
        return self._draining

    def _announce(self, in_s: float) -> "asyncio.Task[None]":
        at = asyncio.get_running_loop().time() + max(0.0, in_s)
        is_news = self._leaving_at is None or at < self._leaving_at
        if is_news:
            self._leaving_at = at
        if self._is_draining and is_news:
            self._heartbeat.beat()
        return self._drain("the machine is taken away")

    async def _finish_jobs(self) -> None:
        await self._jobs.idle()
        await self._outbox.settled()
        self._heartbeat.beat()

    def _resume(self) -> None:
        if not self._is_draining or self._stopping is not None or self._is_ended:
            return
        # The cloud does not take its notice back.
        if self._leaving_at is not None:
            return
        self._is_draining = False
        self._draining = None
        self._jobs.reopen()
        self._heartbeat.beat()

    async def _leave(self, grace_s: float) -> None:
        self._is_draining = True
        self._jobs.close()
        self._heartbeat.beat()
        await _wait_at_most(grace_s, self._jobs.idle())
        self._jobs.abort_all(JobError("NODE_UNAVAILABLE", "the node is stopping"))
        await _wait_at_most(FINAL_RESULTS_S, self._jobs.idle())
        if self._link.is_registered:
            await _wait_at_most(FINAL_RESULTS_S, self._outbox.settled())
        self._end()
        await self._link.close(1000, "the node stops")

    def _end(self) -> None:
        self._is_ended = True
        self._heartbeat.stop()
        self._notices.stop()
        if self._slowed is not None:
            self._slowed.cancel()
        self._outbox.close()
        self._jobs.end()
        if self._first is not None and not self._first.done():
            self._first.set_exception(RuntimeError("the node was stopped before it was registered"))
        if self._ended is not None:
            self._ended.set()

    _ended: Optional[asyncio.Event] = None

    def _signalled(self, ended: asyncio.Event, drain_s: float) -> None:
        if self._is_draining:
            ended.set()
            self._keep(asyncio.ensure_future(self.stop(0)))
        else:
            self._keep(asyncio.ensure_future(self._drain_and_stop(drain_s)))

    async def _drain_and_stop(self, drain_s: float) -> None:
        await _wait_at_most(drain_s, self.drain())
        await self.stop(0)

    def _status(self, status: str, reason: Optional[str]) -> None:
        self._call("on_status", self._on_status, status, reason)

    def _call(self, name: str, callback: Optional[Callable[..., Callback]], *values: object) -> None:
        """Errors of callbacks are logged, so that they do not reach the connection."""
        if callback is None:
            return
        try:
            called = callback(*values)
            if inspect.isawaitable(called):
                self._keep(asyncio.ensure_future(self._guard(name, called)))
        except Exception:
            self._log.exception("%s raised an error", name)

    async def _guard(self, name: str, called: Awaitable[None]) -> None:
        try:
            await called
        except Exception:
            self._log.exception("%s raised an error", name)

    def _keep(self, future: "asyncio.Future[None]") -> None:
        """The loop itself keeps only a weak reference."""
        self._callbacks.add(future)
        future.add_done_callback(self._callbacks.discard)


async def _wait_at_most(time_s: float, waited: Awaitable[None]) -> None:
    try:
        await asyncio.wait_for(waited, time_s)
    except asyncio.TimeoutError:
        pass
