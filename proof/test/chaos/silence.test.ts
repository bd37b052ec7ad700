/** What a node of the SDK is recorded to have acknowledged is what it really said. */
import { expect, it } from 'vitest';
import { createSilence, type Message } from '../../src/chaos/fleet/silence.ts';

const about = { job_id: 'j', attempt_id: 1, node_id: 'n', session_id: 's', trace_id: 't' };
const ack = { type: 'job_ack', ...about } as Message;
const begun = { type: 'job_started', ...about } as Message;
const result = { type: 'job_result', ...about, success: true } as Message;

/** `sleepiness`: what comes of each time that it may fall asleep. */
function listen(...sleepiness: readonly boolean[]) {
  const turns = [...sleepiness];
  const recorded: string[] = [];
  const silence = createSilence(
    { acknowledged: (job, attempt) => recorded.push(`${job}#${attempt}`) },
    { isSleepy: () => turns.shift() ?? false },
  );
  return { silence, recorded };
}

it('an acknowledgement that leaves is recorded, each time', () => {
  const { silence, recorded } = listen();
  expect([ack, begun, ack, result].flatMap(silence.pass)).toEqual([ack, begun, ack, result]);
  expect(recorded).toEqual(['j#1', 'j#1']);
});

it('nothing but the result leaves of a job that is slept over, even if that comes again', () => {
  const { silence, recorded } = listen(true, false);
  expect([ack, begun, ack, result].flatMap(silence.pass)).toEqual([result]);
  expect(recorded).toEqual([]);
  expect(silence.isAsleep('j')).toBe(true);
});
