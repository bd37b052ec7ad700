"""Asks the program from time to time whether the machine is about to be taken away, as clouds announce it."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import Awaitable, Callable, Optional, Union

#: In how many seconds the machine is taken away; None: not known to be.
LeavingHook = Callable[[], Union[Optional[float], Awaitable[Optional[float]]]]


class Notices:
    def __init__(
        self,
        *,
        ask: Optional[LeavingHook],
        interval_s: float,
        leave: Callable[[float], object],
        log: logging.Logger,
    ) -> None:
        self._ask, self._interval_s, self._leave, self._log = ask, interval_s, leave, log
        self._has_failed = False
        self._task: "Optional[asyncio.Task[None]]" = None

    def start(self) -> None:
        if self._ask is not None and self._task is None:
            self._task = asyncio.ensure_future(self._look())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _look(self) -> None:
        while True:
            in_s = await self._answer()
            if in_s is not None:
                self._log.warning("the machine is taken away in %.1f s; the node drains", in_s)
                self._leave(in_s)
                return
            await asyncio.sleep(self._interval_s)

    async def _answer(self) -> Optional[float]:
        try:
            answer = self._ask() if self._ask is not None else None
            in_s = await answer if inspect.isawaitable(answer) else answer
            self._has_failed = False
            return float(in_s) if in_s is not None and in_s >= 0 else None
        except Exception:
            if not self._has_failed:
                self._log.exception("the leaving_in_s callback failed; it is asked again")
            self._has_failed = True
            return None
