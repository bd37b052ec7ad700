"""Messages are checked by the printed schemas."""

import json
import unittest
from typing import Any

from scripted_scheduler import job_assign

from lingua_node import trace_context
from lingua_node.protocol import check_result, parse_message


def problem_of(**fields: Any) -> str:
    problem = parse_message(json.dumps({**job_assign(), **fields})).problem
    return "" if problem is None else problem.message


class Protocol(unittest.TestCase):
    def test_null_means_absent_for_optional_fields_at_any_depth(self) -> None:
        audio_ref = {"url": "/a", "token": None, "bytes": 3}
        message = parse_message(json.dumps({**job_assign(), "dialect": None, "audio_ref": audio_ref})).message
        assert message is not None
        self.assertNotIn("dialect", message)
        self.assertEqual(message["audio_ref"], {"url": "/a", "bytes": 3})
        self.assertEqual(problem_of(job_id=None), '"job_id" is missing')

    def test_unknown_fields_are_ignored(self) -> None:
        self.assertEqual(problem_of(from_the_future={"deep": [None]}), "")

    def test_a_wrong_field_is_named(self) -> None:
        self.assertEqual(problem_of(attempt_id="1"), '"attempt_id" must be a number, not a string')
        self.assertEqual(problem_of(attempt_id=True), '"attempt_id" must be a number, not a boolean')
        self.assertEqual(problem_of(attempt_id=1.5), '"attempt_id" must be a whole number')
        self.assertIn('"attempt_id" must be from 1', problem_of(attempt_id=0))
        self.assertIn('"job_id" must match', problem_of(job_id="a b"))
        self.assertIn('"job_id" must match', problem_of(job_id="a\n"))
        self.assertIn('"pipeline.use_asr" must be a boolean', problem_of(pipeline={"use_asr": 1, "use_nmt": True, "use_tts": True}))
        self.assertIn('"lid.candidates" must be a list', problem_of(lid={"candidates": "en"}))
        self.assertIn("longer than", problem_of(context_text="x" * 65_537))

    def test_what_is_not_a_message_is_refused(self) -> None:
        for text in ("{", "[]", "7", '{"type":"job_unassign"}', "{}", "[" * 100_000, '{"type":NaN}'):
            parsed = parse_message(text)
            self.assertIsNone(parsed.message, text[:20])
            self.assertIsNotNone(parsed.problem)

    def test_a_result_with_a_wrong_field_is_found(self) -> None:
        problem = check_result({"type": "job_result"})
        self.assertEqual(problem and problem.message, '"job_id" is missing')

    def test_the_trace_context_is_that_of_the_typescript_sdk(self) -> None:
        job: Any = {**job_assign(), "trace_id": "t-1", "job_id": "job-1", "attempt_id": 2}
        self.assertRegex(trace_context(job).traceparent, r"^00-[0-9a-f]{32}-[0-9a-f]{16}-01$")
        known = trace_context({**job, "trace_id": "0AF7651916CD43DD8448EB211C80319C"})
        self.assertEqual(known.trace_id, "0af7651916cd43dd8448eb211c80319c")


if __name__ == "__main__":
    unittest.main()
