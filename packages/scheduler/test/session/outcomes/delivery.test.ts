import { describe, expect, it } from 'vitest';
import {
  acknowledge,
  type Delivered,
  gapEndsAt,
  keep,
  NO_WORK,
  release,
  settle,
} from '../../../src/session/outcomes/delivery.ts';
import {
  createOrderedDelivery,
  type NamedUtterance,
  ORDERING,
  resultOf,
} from '../support/ordered-delivery.ts';

describe('ordered delivery', () => {
  it('I5 order: results are delivered in utterance order', () => {
    const order = createOrderedDelivery(4);
    order.settle(2, 1);
    expect(order.release(1)).toEqual([]);
    order.settle(0, 2);
    expect(order.release(2)).toEqual(['0']);
    order.settle(3, 3);
    order.settle(1, 4);
    expect(order.release(4)).toEqual(['1', '2', '3']);
  });

  it('I5 order: a second outcome of an utterance is refused', () => {
    const order = createOrderedDelivery(2);
    expect(order.settle(1, 1)).toBe(true);
    expect(order.settle(1, 2)).toBe(false);
    order.settle(0, 3);
    expect(order.release(3)).toEqual(['0', '1']);
    expect(order.settle(0, 4)).toBe(false);
    expect(order.release(4)).toEqual([]);
  });

  it('I5 order: an utterance that was never accepted gets no outcome', () => {
    const order = createOrderedDelivery(1);
    const stranger: NamedUtterance = {
      name: 99,
      isSettled: false,
      outcome: undefined,
      readyAt: 0,
      nodeId: undefined,
      work: NO_WORK,
    };
    expect(settle(order.delivery, stranger, resultOf('x'), 1)).toBe(false);
    expect(order.delivery.pending).toEqual({ count: 0, results: 0, bytes: 0 });
  });

  it('I5 order: the gap timer starts when a later outcome is ready, not when the utterance was accepted', () => {
    const order = createOrderedDelivery(3);
    expect(gapEndsAt(order.delivery, ORDERING)).toBeUndefined();
    order.settle(1, 50_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(60_000);
    order.settle(2, 55_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(60_000);
    expect(order.release(59_999)).toEqual([]);
    expect(order.release(60_000)).toEqual(['0?gap_timeout', '0!gap_timeout', '1', '2']);
    expect(gapEndsAt(order.delivery, ORDERING)).toBeUndefined();
  });

  it('I5 order: without a later outcome no gap timer runs', () => {
    const order = createOrderedDelivery(2);
    expect(order.release(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  it('I5 order: silence starts no gap timer, however long it waits', () => {
    const order = createOrderedDelivery(4);
    order.settleSilent(1, 1_000);
    order.settleSilent(2, 2_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBeUndefined();
    expect(order.release(21_000)).toEqual([]);
    order.settle(3, 25_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(35_000);
    order.settle(0, 26_000);
    expect(order.release(26_000)).toEqual(['0', '1!silence_detected', '2!silence_detected', '3']);
  });

  it('I5 order: a gap whose utterance is in work stays open for result_gap_max_ms', () => {
    const order = createOrderedDelivery(2);
    order.setWork(0, 'acknowledged', 40_000);
    order.settle(1, 50_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(80_000);
    expect(order.release(79_999)).toEqual([]);
    expect(order.release(80_000)).toEqual(['0?gap_timeout', '0!gap_timeout', '1']);
  });

  it('I5 order: an utterance that leaves its node has result_gap_timeout_ms for a retry', () => {
    const order = createOrderedDelivery(2);
    order.setWork(0, 'acknowledged', 40_000);
    order.settle(1, 50_000);
    order.setWork(0, 'none', 65_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(75_000);
  });

  it('I5 order: retries keep a gap open for result_gap_max_ms at most', () => {
    const order = createOrderedDelivery(2);
    order.settle(1, 50_000);
    order.setWork(0, 'none', 79_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(80_000);
  });

  it('I5 order: a later answer of the same node ends the work of an attempt without acknowledgement', () => {
    const order = createOrderedDelivery(4);
    order.setWork(0, 'sent', 40_000, 'node-1');
    for (const name of [1, 2, 3]) order.setWork(name, 'sent', 45_000, name === 1 ? 'node-2' : 'node-1');
    order.settle(1, 50_000);
    order.settleSilent(2, 51_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(80_000);
    order.settle(3, 56_000);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(66_000);
    order.setWork(0, 'acknowledged', 57_000, 'node-1');
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(80_000);
  });

  it('I5 order: an answer from before the hand-over leaves result_gap_timeout_ms to acknowledge', () => {
    const order = createOrderedDelivery(2);
    order.setWork(1, 'sent', 45_000, 'node-1');
    order.settle(1, 50_000);
    order.setWork(0, 'sent', 62_000, 'node-1');
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(72_000);
  });

  it('I5 order: each gap has its own timer, from the outcome behind it', () => {
    const order = createOrderedDelivery(4);
    order.settle(1, 1_000);
    order.settle(3, 4_000);
    expect(order.release(11_000)).toEqual(['0?gap_timeout', '0!gap_timeout', '1']);
    expect(gapEndsAt(order.delivery, ORDERING)).toBe(14_000);
    expect(order.release(13_999)).toEqual([]);
    expect(order.release(14_000)).toEqual(['2?gap_timeout', '2!gap_timeout', '3']);
  });

  it('I5 order: all utterances of one gap are closed together', () => {
    const order = createOrderedDelivery(4);
    order.settle(3, 1_000);
    expect(order.release(11_000)).toEqual([
      '0?gap_timeout',
      '0!gap_timeout',
      '1?gap_timeout',
      '1!gap_timeout',
      '2?gap_timeout',
      '2!gap_timeout',
      '3',
    ]);
  });

  it('I5 order: a late result of a closed gap is refused', () => {
    const order = createOrderedDelivery(2);
    order.settle(1, 1_000);
    order.release(11_000);
    expect(order.settle(0, 11_001)).toBe(false);
    expect(order.release(11_001)).toEqual([]);
  });

  it('I5 order: too many results behind a gap close it', () => {
    const order = createOrderedDelivery(4, { maxPendingResults: 2 });
    order.settle(1, 1);
    order.settle(2, 1);
    expect(order.release(1)).toEqual([]);
    order.settle(3, 1);
    expect(order.release(1)).toEqual(['0?pending_overflow_evict', '0!pending_overflow_evict', '1', '2', '3']);
  });

  it('I5 order: an overflow closes only as many gaps as needed', () => {
    const order = createOrderedDelivery(6, { maxPendingResults: 2 });
    for (const name of [1, 3, 5]) order.settle(name, 1);
    expect(order.release(1)).toEqual(['0?pending_overflow_evict', '0!pending_overflow_evict', '1']);
  });

  it('I5 order: too many bytes behind a gap close it', () => {
    const order = createOrderedDelivery(3, { maxPendingBytes: 10_000 });
    order.settle(1, 1, 6_000);
    expect(order.release(1)).toEqual([]);
    order.settle(2, 1, 6_000);
    expect(order.release(1)).toEqual(['0?pending_overflow_evict', '0!pending_overflow_evict', '1', '2']);
    expect(order.delivery.pending).toEqual({ count: 0, results: 0, bytes: 0 });
  });

  it('I5 order: a large result without a gap is delivered at once', () => {
    const order = createOrderedDelivery(1, { maxPendingBytes: 10 });
    order.settle(0, 1, 6_000);
    expect(order.release(1)).toEqual(['0']);
  });

  it('outcomes are numbered from 1 without gaps', () => {
    const order = createOrderedDelivery(5);
    for (const name of [4, 2, 0]) order.settle(name, 1);
    const released = [...release(order.delivery, 1, ORDERING), ...release(order.delivery, 10_001, ORDERING)];
    const seqs = released.flatMap((one) => (one.kind === 'delivered' ? [one.delivered.deliverySeq] : []));
    expect(seqs).toEqual([1, 2, 3, 4, 5]);
  });
});

const delivered = (deliverySeq: number, ttsBytes = 0): Delivered<NamedUtterance> => ({
  utterance: {
    name: deliverySeq,
    isSettled: true,
    outcome: undefined,
    readyAt: 0,
    nodeId: undefined,
    work: NO_WORK,
  },
  outcome: resultOf('', ttsBytes),
  deliverySeq,
});

describe('kept results', () => {
  const kept = ({ delivery }: ReturnType<typeof createOrderedDelivery>) =>
    delivery.kept.map(({ deliverySeq }) => deliverySeq);

  it('an acknowledgement drops all kept results up to its number', () => {
    const order = createOrderedDelivery();
    for (const seq of [1, 2, 3, 4]) keep(order.delivery, delivered(seq), ORDERING);
    acknowledge(order.delivery, 2);
    expect(kept(order)).toEqual([3, 4]);
    acknowledge(order.delivery, 2);
    acknowledge(order.delivery, 0);
    acknowledge(order.delivery, Number.NaN);
    expect(kept(order)).toEqual([3, 4]);
    acknowledge(order.delivery, 1_000);
    expect(kept(order)).toEqual([]);
    expect(order.delivery.keptBytes).toBe(0);
    expect(order.delivery.forgotten).toBe(0);
  });

  it('kept results are bounded in number; dropped ones are counted', () => {
    const order = createOrderedDelivery();
    for (const seq of [1, 2, 3, 4]) keep(order.delivery, delivered(seq), { ...ORDERING, maxKeptResults: 3 });
    expect(kept(order)).toEqual([2, 3, 4]);
    expect(order.delivery.forgotten).toBe(1);
  });

  it('kept results are bounded in bytes, but the newest stays', () => {
    const order = createOrderedDelivery();
    const settings = { ...ORDERING, maxResultBytes: 10_000 };
    keep(order.delivery, delivered(1, 4_000), settings);
    keep(order.delivery, delivered(2, 4_000), settings);
    expect(kept(order)).toEqual([1, 2]);
    keep(order.delivery, delivered(3, 4_000), settings);
    expect(kept(order)).toEqual([2, 3]);
    keep(order.delivery, delivered(4, 50_000), settings);
    expect(kept(order)).toEqual([4]);
    expect(order.delivery.forgotten).toBe(3);
  });
});
