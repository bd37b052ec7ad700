"""The delay before the next try."""

import unittest
from typing import Any

from lingua_node.connection.backoff import next_try


def after(failures: int, **facts: Any) -> "tuple[float, int]":
    usual = {"close_code": 1006, "registered_s": 0.0, "chance": 0.5}
    limits = {"first_s": 0.25, "longest_s": 15.0, "stable_after_s": 5.0}
    delay_s, count = next_try(failures, **{**usual, **limits, **facts})
    return delay_s, count


class Backoff(unittest.TestCase):
    def test_the_delay_is_anywhere_from_zero_to_a_ceiling_that_doubles(self) -> None:
        ceilings = [after(failures, chance=1.0)[0] for failures in range(8)]
        self.assertEqual(ceilings, [0.25, 0.5, 1, 2, 4, 8, 15, 15])
        self.assertEqual([after(3, chance=chance)[0] for chance in (0.0, 0.25, 0.5)], [0, 0.5, 1])

    def test_every_loss_counts_as_a_failure_except_after_a_stable_connection_or_a_restart(self) -> None:
        self.assertEqual(after(4)[1], 5)
        self.assertEqual(after(4, registered_s=4.9)[1], 5)
        self.assertEqual(after(4, registered_s=5.0), (0.125, 1))
        self.assertEqual(after(4, close_code=1012), (0.125, 1))

    def test_years_of_failures_do_not_overflow(self) -> None:
        self.assertEqual(after(10**9, chance=1.0)[0], 15)


if __name__ == "__main__":
    unittest.main()
