/** What waits to be sent as spans: gathered, sent a few at a time, given up when nobody takes it. */
import { expect, it } from 'vitest';
import type { SpanDraft } from '../../../src/adapters/opentelemetry/span-draft.ts';
import { createSpanQueue, QUEUE_LIMITS } from '../../../src/adapters/opentelemetry/span-queue.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const SPAN: SpanDraft = {
  name: 'job',
  kind: 'internal',
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parentSpanId: undefined,
  startAt: 0,
  endAt: 1,
  attributes: {},
  events: [],
  error: undefined,
};
const SOON_MS = 1_000;

function openQueue() {
  const clock = createManualClock();
  const counts = new Map<string, number>();
  const batches: number[] = [];
  const answers: ((hasArrived: boolean) => void)[] = [];
  const queue = createSpanQueue({
    clock,
    log: createLog('silent'),
    meter: {
      count(name, labels, by = 1) {
        const key = `${name}${labels?.reason === undefined ? '' : ` ${labels.reason}`}`;
        counts.set(key, (counts.get(key) ?? 0) + by);
      },
      gauge() {},
      observe() {},
    },
    send(spans) {
      batches.push(spans.length);
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  const add = (traces: number, spans = 1) => {
    for (let at = 0; at < traces; at += 1) queue.add(() => Array.from({ length: spans }, () => SPAN));
  };
  const dropped = (reason: string) => counts.get(`scheduler_trace_spans_dropped_total ${reason}`) ?? 0;
  const exported = () => counts.get('scheduler_trace_spans_exported_total') ?? 0;
  return { clock, queue, add, batches, answers, dropped, exported };
}

it('gathers what comes together, and sends it as one', async () => {
  const { clock, add, batches, answers, exported } = openQueue();
  add(3, 2);
  expect(batches).toEqual([]);
  await clock.advance(SOON_MS);
  expect(batches).toEqual([6]);
  answers[0]?.(true);
  await clock.advance(0);
  expect(exported()).toBe(6);
});

it('waits for no others once there are enough for a batch', async () => {
  const { clock, add, batches } = openQueue();
  add(QUEUE_LIMITS.maxPerBatch);
  await clock.advance(0);
  expect(batches).toEqual([QUEUE_LIMITS.maxPerBatch]);
});

it('sends no more at once than one slice may take, and has few under way', async () => {
  const { clock, add, batches, answers } = openQueue();
  add(10 * QUEUE_LIMITS.maxPerBatch);
  await clock.advance(SOON_MS);
  expect(batches).toEqual(Array.from({ length: QUEUE_LIMITS.maxUnderWay }, () => QUEUE_LIMITS.maxPerBatch));
  answers[0]?.(true);
  await clock.advance(SOON_MS);
  expect(batches).toHaveLength(QUEUE_LIMITS.maxUnderWay + 1);
});

it('I11 bounded: what finds no room is dropped and counted by spans', async () => {
  const { add, dropped } = openQueue();
  add(QUEUE_LIMITS.maxQueued + 5, 3);
  expect(dropped('queue_full')).toBe(15);
});

it('waits longer and longer while nobody takes them, and not at all once somebody does', async () => {
  const { clock, add, batches, answers, dropped, exported } = openQueue();
  const failOne = async () => {
    answers.at(-1)?.(false);
    await clock.advance(0);
  };
  add(1);
  await clock.advance(SOON_MS);
  await failOne();
  expect(dropped('not_sent')).toBe(1);
  add(1);
  await clock.advance(900);
  expect(batches).toHaveLength(1);
  await clock.advance(100);
  expect(batches).toHaveLength(2);
  await failOne();
  add(1);
  await clock.advance(1_900);
  expect(batches).toHaveLength(2);
  await clock.advance(100);
  expect(batches).toHaveLength(3);
  answers.at(-1)?.(true);
  add(1);
  await clock.advance(SOON_MS);
  expect(batches).toHaveLength(4);
  expect(exported()).toBe(1);
});

it('never waits longer than half a minute', async () => {
  const { clock, add, batches, answers } = openQueue();
  for (let tries = 1; tries <= 12; tries += 1) {
    add(1);
    await clock.advance(30_000);
    expect(batches).toHaveLength(tries);
    answers.at(-1)?.(false);
    await clock.advance(0);
  }
});

it('sends at the end what is there, whatever pause there was', async () => {
  const { clock, queue, add, batches, answers, exported } = openQueue();
  add(1);
  await clock.advance(SOON_MS);
  answers[0]?.(false);
  add(2);
  const stopping = queue.stop(2_000);
  await clock.advance(0);
  expect(batches).toEqual([1, 2]);
  answers[1]?.(true);
  await stopping;
  expect(exported()).toBe(2);
});

it('gives up at the end what is not taken in time, counts it, and takes nothing more', async () => {
  const { clock, queue, add, batches, dropped } = openQueue();
  add(QUEUE_LIMITS.maxPerBatch * QUEUE_LIMITS.maxUnderWay + 7);
  const stopping = queue.stop(2_000);
  await clock.advance(2_000);
  await stopping;
  expect(batches).toHaveLength(QUEUE_LIMITS.maxUnderWay);
  expect(dropped('stopping')).toBe(7);
  add(1);
  expect(dropped('stopping')).toBe(8);
});

it('has nothing to wait for if nothing is there', async () => {
  await openQueue().queue.stop(2_000);
});
