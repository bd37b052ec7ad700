import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeliverySettings,
  gapEndsAt,
  NO_WORK,
  type Work,
} from '../../../src/session/outcomes/delivery.ts';
import { createOrderedDelivery, ORDERING } from '../support/ordered-delivery.ts';

type Act =
  | { readonly kind: 'accept' }
  | { readonly kind: 'settle'; readonly pick: number; readonly bytes: number }
  | { readonly kind: 'silent'; readonly pick: number }
  | {
      readonly kind: 'work';
      readonly pick: number;
      readonly state: Work['state'];
      readonly nodeId: string;
    }
  | { readonly kind: 'wait'; readonly ms: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'accept' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), pick: fc.nat(200), bytes: fc.nat(4_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('silent' as const), pick: fc.nat(200) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('work' as const),
      pick: fc.nat(200),
      state: fc.constantFrom<Work['state'][]>('none', 'sent', 'acknowledged'),
      nodeId: fc.constantFrom('node-1', 'node-2'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 999, 1_000, 1_001, 400, 2_000, 5_000),
    }),
  },
);

const settings: fc.Arbitrary<DeliverySettings> = fc.record({
  gapTimeoutMs: fc.constant(1_000),
  gapMaxMs: fc.constant(3_000),
  maxPendingResults: fc.constantFrom(1, 3, 100),
  maxPendingBytes: fc.constantFrom(6_000, 1_000_000),
  maxResultBytes: fc.constant(1_000_000),
  maxKeptResults: fc.constant(4),
});

interface Entry {
  readonly name: number;
  readyAt?: number;
  isSilent: boolean;
  nodeId: string | undefined;
  work: Work;
  bytes: number;
}

/** 512 for each, its speech, and two bytes per character of `text N`, once recognised and once translated. */
const weight = ({ name, bytes, isSilent }: Entry): number =>
  isSilent ? 512 : 512 + bytes + 4 * `text ${name}`.length;

/**
 * The reference model: the oldest is delivered if it is ready, or if the outcomes behind it are too many, or the results among them are
 * too old. They may be older while a node has the oldest, or has left it only now. A node that has not acknowledged the oldest does not
 * have it any more once it has answered a later one.
 */
function createModel({ gapTimeoutMs, gapMaxMs, maxPendingResults, maxPendingBytes }: DeliverySettings) {
  const line: Entry[] = [];
  let accepted = 0;
  function mustGo(at: number): string | undefined {
    const ready = line.filter(({ readyAt }) => readyAt !== undefined);
    const bytes = ready.reduce((sum, entry) => sum + weight(entry), 0);
    const results = ready.filter(({ isSilent }) => !isSilent);
    if (results.length > maxPendingResults || bytes > maxPendingBytes) return 'pending_overflow_evict';
    const [oldest] = results.map(({ readyAt }) => readyAt ?? 0).sort((a, b) => a - b);
    if (oldest === undefined) return undefined;
    const [head] = line;
    const { state, since } = head?.work ?? NO_WORK;
    const [answered] = results
      .filter(({ nodeId }) => nodeId === head?.nodeId)
      .map(({ readyAt }) => readyAt ?? 0)
      .sort((a, b) => a - b);
    const isAnswered = state === 'sent' && answered !== undefined;
    const isInWork = state !== 'none' && !isAnswered;
    const from = Math.max(oldest, since, isAnswered ? answered : oldest);
    const isOver = oldest + gapMaxMs <= at || (!isInWork && from + gapTimeoutMs <= at);
    return isOver ? 'gap_timeout' : undefined;
  }
  return {
    accept: () =>
      line.push({ name: accepted++, bytes: 0, isSilent: false, nodeId: undefined, work: NO_WORK }),
    setWork(name: number, state: Work['state'], since: number, nodeId: string): void {
      const entry = line.find((one) => one.name === name);
      if (entry !== undefined) Object.assign(entry, { work: { state, since }, nodeId });
    },
    settle(name: number, at: number, bytes: number, isSilent = false): boolean {
      const entry = line.find((one) => one.name === name);
      if (entry === undefined || entry.readyAt !== undefined) return false;
      entry.readyAt = at;
      entry.bytes = bytes;
      entry.isSilent = isSilent;
      return true;
    },
    release(at: number): string[] {
      const out: string[] = [];
      for (let [head] = line; head !== undefined; [head] = line) {
        const reason = head.readyAt === undefined ? mustGo(at) : undefined;
        if (head.readyAt === undefined && reason === undefined) break;
        line.shift();
        if (reason === undefined) out.push(`${head.name}${head.isSilent ? '!silence_detected' : ''}`);
        else out.push(`${head.name}?${reason}`, `${head.name}!${reason}`);
      }
      return out;
    },
    accepted: () => accepted,
  };
}

describe('ordered delivery, for any sequence of acceptances, outcomes and time', () => {
  it('I5 order: delivery equals the reference model', () => {
    fc.assert(
      fc.property(settings, fc.array(act, { maxLength: 120, size: 'max' }), (given, acts) => {
        const order = createOrderedDelivery(0, given);
        const model = createModel(given);
        let at = 1_000_000;
        for (const one of acts) {
          if (one.kind === 'accept') {
            order.accept();
            model.accept();
          } else if (one.kind === 'wait') at += one.ms;
          else if (model.accepted() > 0) {
            const name = one.pick % model.accepted();
            if (one.kind === 'work') {
              order.setWork(name, one.state, at, one.nodeId);
              model.setWork(name, one.state, at, one.nodeId);
            } else if (one.kind === 'silent')
              expect(order.settleSilent(name, at)).toBe(model.settle(name, at, 0, true));
            else expect(order.settle(name, at, one.bytes)).toBe(model.settle(name, at, one.bytes));
          }
          expect(order.release(at)).toEqual(model.release(at));
          expect(gapEndsAt(order.delivery, given) ?? at + 1).toBeGreaterThan(at);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('I5 order: every accepted utterance gets exactly one outcome, in order', () => {
    fc.assert(
      fc.property(settings, fc.array(act, { maxLength: 120, size: 'max' }), (given, acts) => {
        const order = createOrderedDelivery(0, given);
        const left: string[] = [];
        let at = 1_000_000;
        for (const one of acts) {
          if (one.kind === 'accept') order.accept();
          else if (one.kind === 'wait') at += one.ms;
          else if (order.utterances.length > 0) {
            const name = one.pick % order.utterances.length;
            if (one.kind === 'work') order.setWork(name, one.state, at, one.nodeId);
            else if (one.kind === 'silent') order.settleSilent(name, at);
            else order.settle(name, at, one.bytes);
          }
          left.push(...order.release(at));
        }
        const last = order.accept();
        order.settle(last.name, at);
        left.push(...order.release(at), ...order.release(at + ORDERING.gapMaxMs));
        const outcomes = left.filter((one) => !one.includes('?')).map((one) => Number.parseInt(one, 10));
        expect(outcomes).toEqual(order.utterances.map(({ name }) => name));
        expect(order.delivery.pending).toEqual({ count: 0, results: 0, bytes: 0 });
        expect(order.delivery.waiting).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
