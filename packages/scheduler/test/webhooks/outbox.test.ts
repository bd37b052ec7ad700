/** The events of one receiver: sent until they are accepted, within limits. */
import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../src/ports/endpoint-caller.ts';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { backOffMs, createOutbox } from '../../src/webhooks/outbox.ts';
import { createManualClock } from '../support/manual-clock.ts';

const event = (number: number): WebhookEvent => ({
  id: `job_ended:${number}`,
  type: 'job_ended',
  at_ms: 0,
  tenant_id: 'acme',
  data: { job_id: `job-${number}` },
});
const TAKEN: CallResult = { kind: 'taken' };
const FAILED: CallResult = { kind: 'unreachable', reason: 'status_500' };

function open(answer: (body: string) => CallResult | Promise<CallResult>, maxWaiting = 100) {
  const clock = createManualClock();
  const posted: string[] = [];
  const counted: string[] = [];
  const warned: Record<string, unknown>[] = [];
  const outbox = createOutbox({
    name: 'receiver',
    async post(body) {
      posted.push(JSON.parse(body).id);
      return answer(body);
    },
    settings: { maxWaiting, retryForMs: 60_000 },
    clock,
    chance: () => 0,
    meter: {
      count: (name, { reason = '' } = {}) => void counted.push(`${name} ${reason}`.trim()),
      gauge() {},
      observe() {},
    },
    log: { debug() {}, info() {}, warn: (fields) => void warned.push(fields), error() {} },
  });
  return { clock, outbox, posted, counted, warned };
}

describe('the outbox of a receiver', () => {
  it('posts each event once if it is accepted', async () => {
    const { outbox, posted, counted } = open(() => TAKEN);
    outbox.offer(event(1));
    outbox.offer(event(2));
    await outbox.idle();
    expect(posted).toEqual(['job_ended:1', 'job_ended:2']);
    expect(counted).toEqual(['scheduler_webhooks_delivered_total', 'scheduler_webhooks_delivered_total']);
    expect(outbox.waiting()).toBe(0);
  });

  it('repeats an event that was not accepted, at growing intervals, with the same id', async () => {
    const answers = [FAILED, FAILED, TAKEN];
    const { clock, outbox, posted } = open(() => answers.shift() ?? TAKEN);
    outbox.offer(event(1));
    await clock.advance(999);
    expect(posted).toHaveLength(1);
    await clock.advance(1);
    expect(posted).toHaveLength(2);
    await clock.advance(1_999);
    expect(posted).toHaveLength(2);
    await clock.advance(1);
    expect(posted).toEqual(['job_ended:1', 'job_ended:1', 'job_ended:1']);
    expect(outbox.waiting()).toBe(0);
  });

  it('gives an event up after the time for retries, and names it in the log', async () => {
    const { clock, outbox, posted, counted, warned } = open(() => FAILED);
    outbox.offer(event(1));
    await clock.advance(600_000);
    // At 0, 1, 3, 7, 15, 31 s; the next one would be at 63 s.
    expect(posted).toHaveLength(6);
    expect(counted).toContain('scheduler_webhooks_dropped_total expired');
    expect(warned).toEqual([
      { receiver: 'receiver', event_id: 'job_ended:1', reason: 'expired', why: 'status_500' },
    ]);
    expect(outbox.waiting()).toBe(0);
  });

  it('drops further events when the limit of waiting ones is reached', async () => {
    const { clock, outbox, counted } = open(() => FAILED, 3);
    for (let number = 1; number <= 5; number += 1) outbox.offer(event(number));
    await clock.advance(0);
    expect(outbox.waiting()).toBe(3);
    expect(counted.filter((each) => each === 'scheduler_webhooks_dropped_total full')).toHaveLength(2);
  });

  it('has at most eight events on their way', async () => {
    const answers: ((result: CallResult) => void)[] = [];
    const { clock, outbox, posted } = open(() => new Promise((resolve) => answers.push(resolve)));
    for (let number = 1; number <= 10; number += 1) outbox.offer(event(number));
    await clock.advance(0);
    expect(posted).toHaveLength(8);
    answers[0]?.(TAKEN);
    await clock.advance(0);
    expect(posted).toHaveLength(9);
  });

  it('keeps one event of an id that is offered again', async () => {
    const { clock, outbox, posted } = open(() => FAILED);
    outbox.offer(event(1));
    outbox.offer(event(1));
    await clock.advance(0);
    expect(posted).toHaveLength(1);
  });

  it('drops the texts of an erased job, and keeps the others', async () => {
    const { clock, outbox, posted } = open(() => FAILED);
    const subject = { sessionId: 's', tenantId: 'acme' };
    outbox.offer(event(1), { jobId: 'job-1', ...subject });
    outbox.offer(event(2), { jobId: 'job-2', ...subject });
    outbox.offer(event(3));
    await clock.advance(0);
    outbox.erase(({ jobId }) => jobId === 'job-1');
    await clock.advance(1_000);
    expect(posted.slice(3)).toEqual(['job_ended:2', 'job_ended:3']);
  });

  it('sends nothing after it is closed', async () => {
    const { clock, outbox, posted } = open(() => FAILED);
    outbox.offer(event(1));
    await clock.advance(0);
    outbox.close('removed');
    outbox.offer(event(2));
    await clock.advance(60_000);
    expect(posted).toHaveLength(1);
    expect(clock.pending()).toBe(0);
  });

  it('waits at most five minutes between tries, and up to a half less by chance', () => {
    expect(backOffMs(1, 0)).toBe(1_000);
    expect(backOffMs(40, 0)).toBe(300_000);
    expect(backOffMs(3, 0.999)).toBeCloseTo(2_002, -1);
  });
});
