/** What the history records as acknowledged by an SDK node is what the node really sent. */
import { expect, it } from 'vitest';
import { type Message, withholdAcks } from '../../src/chaos/fleet/withhold-acks.ts';

const about = { job_id: 'j', attempt_id: 1, node_id: 'n', session_id: 's', trace_id: 't' };
const ack = { type: 'job_ack', ...about } as Message;
const begun = { type: 'job_started', ...about } as Message;
const result = { type: 'job_result', ...about, success: true } as Message;

/** `sleepiness`: for each job, whether the node does not acknowledge it. */
function listen(...sleepiness: readonly boolean[]) {
  const turns = [...sleepiness];
  const recorded: string[] = [];
  const silence = withholdAcks(
    { acknowledged: (job, attempt) => recorded.push(`${job}#${attempt}`) },
    { isSleepy: () => turns.shift() ?? false },
  );
  return { silence, recorded };
}

it('every acknowledgement that is sent is recorded', () => {
  const { silence, recorded } = listen();
  expect([ack, begun, ack, result].flatMap(silence.pass)).toEqual([ack, begun, ack, result]);
  expect(recorded).toEqual(['j#1', 'j#1']);
});

it('of a job without acknowledgement only the result is sent', () => {
  const { silence, recorded } = listen(true, false);
  expect([ack, begun, ack, result].flatMap(silence.pass)).toEqual([result]);
  expect(recorded).toEqual([]);
  expect(silence.isAsleep('j')).toBe(true);
});
