"""Delay before the next try after a connection was lost or refused. Pure; randomness is an argument."""

from __future__ import annotations

from typing import NamedTuple

#: The close code of a scheduler that restarts.
SERVICE_RESTART = 1012

#: 2 ** 30 is far beyond any ceiling, and safe from overflow.
MOST_DOUBLINGS = 30


class NextTry(NamedTuple):
    delay_s: float
    #: Pass it to the next call.
    failures: int


def next_try(
    failures: int,
    *,
    close_code: int,
    registered_s: float,
    chance: float,
    first_s: float,
    longest_s: float,
    stable_after_s: float,
) -> NextTry:
    """Full jitter: a random delay up to the limit, so that the nodes of a lost scheduler do not all return at once.

    A restart does not count as a failure. A connection that is cut right after it opened does, otherwise such a loop
    would never slow down.
    """
    is_fresh = close_code == SERVICE_RESTART or registered_s >= stable_after_s
    past = 0 if is_fresh else failures
    ceiling_s = min(longest_s, first_s * 2.0 ** min(past, MOST_DOUBLINGS))
    return NextTry(chance * ceiling_s, past + 1)
