/** Cases of the outbox that a property test rarely reaches. */
import { describe, expect, it } from 'vitest';
import { ACCEPTED_WITHIN_MS, createOutbox, type Outbox } from '../../src/client/outbox.ts';

const LIMITS = { maxKeptBytes: 1_000, maxJoinedBytes: 100, maxUtterancesInFlight: 3 };

function create(limits: Partial<typeof LIMITS> = {}): Outbox {
  let requests = 0;
  const outbox = createOutbox({ ...LIMITS, ...limits }, () => {
    requests += 1;
    return `req-${requests}`;
  });
  outbox.opened(false);
  return outbox;
}

const piece = (length = 2): Uint8Array => new Uint8Array(length);
const takeAll = (outbox: Outbox, now = 0) => {
  const frames = [];
  for (let frame = outbox.take(now); frame !== undefined; frame = outbox.take(now)) frames.push(frame);
  return frames;
};
/** Sent one by one, so that they are not joined. */
const say = (outbox: Outbox, count: number): void => {
  for (let each = 0; each < count; each += 1) {
    outbox.addChunk(piece());
    outbox.take(0);
  }
};
const of = (utteranceIndex: number, firstSeq?: number, lastSeq?: number, requestId?: string) => ({
  utteranceIndex,
  firstSeq,
  lastSeq,
  requestId,
});

describe('acceptance without seq numbers', () => {
  it('an acceptance covers the whole request after its end was sent', () => {
    const outbox = create();
    say(outbox, 2);
    outbox.endUtterance();
    takeAll(outbox);
    say(outbox, 1);
    expect(outbox.accepted(of(0, undefined, undefined, 'req-1'))).toBe('req-1');
    expect(outbox.settled(0)).toBe('req-1');
    expect(outbox.audioBytes()).toBe(2);
  });

  it('an acceptance before the end covers nothing', () => {
    const outbox = create();
    say(outbox, 2);
    outbox.accepted(of(0, undefined, undefined, 'req-1'));
    outbox.settled(0);
    expect(outbox.audioBytes()).toBe(4);
  });

  it('a whole utterance is found by request id, else by index', () => {
    const outbox = create();
    for (const id of ['a', 'b']) outbox.addUtterance(id, piece(), {});
    takeAll(outbox);
    expect(outbox.accepted(of(5, undefined, undefined, 'b'))).toBe('b');
    expect(outbox.accepted(of(0))).toBe('a');
    expect([outbox.requestIdOf(0), outbox.requestIdOf(5)]).toEqual(['a', 'b']);
  });
});

describe('end without audio', () => {
  it('an end is dropped when the scheduler has cut before it', () => {
    const outbox = create();
    say(outbox, 1);
    outbox.endUtterance();
    outbox.accepted(of(0, 1, 1));
    expect(outbox.hasFrames()).toBe(false);
    outbox.settled(0);
    expect([outbox.isEmpty(), outbox.keptBytes()]).toEqual([true, 0]);
  });

  it('an end is kept while earlier audio has no utterance', () => {
    const outbox = create();
    say(outbox, 2);
    outbox.endUtterance();
    outbox.accepted(of(0, 1, 1));
    expect(takeAll(outbox)).toMatchObject([{ seq: 3, isFinal: true }]);
    outbox.accepted(of(1, 2, 3));
    for (const index of [0, 1]) outbox.settled(index);
    expect(outbox.isEmpty()).toBe(true);
  });
});

describe('cut made by the scheduler', () => {
  it('known cuts are repeated around accepted audio, and only there', () => {
    const outbox = create();
    say(outbox, 3);
    outbox.endUtterance();
    takeAll(outbox);
    say(outbox, 1);
    // The scheduler never reported on 1 and 2; 3 and 5, with the end between them, are one utterance.
    outbox.accepted(of(1, 3, 5));
    outbox.opened(false);
    expect(takeAll(outbox).map((frame) => frame.kind === 'chunk' && [frame.seq, frame.isFinal])).toEqual([
      [1, false],
      [2, true],
      [3, false],
      [5, true],
    ]);
  });

  it('a known cut replaces an end that it covered', () => {
    const outbox = create();
    outbox.addChunk(piece());
    outbox.endUtterance();
    outbox.addChunk(piece());
    expect(takeAll(outbox)).toMatchObject([
      { seq: 1, isFinal: true },
      { seq: 2, isFinal: false },
    ]);
    outbox.accepted(of(0, 1, 2));
    outbox.opened(false);
    expect(takeAll(outbox)).toMatchObject([
      { seq: 1, isFinal: false },
      { seq: 2, isFinal: true },
    ]);
  });

  it('a whole utterance in between does not disturb the cut', () => {
    const outbox = create();
    say(outbox, 1);
    outbox.addUtterance('whole', piece(), {});
    say(outbox, 1);
    takeAll(outbox);
    outbox.accepted(of(0, undefined, undefined, 'whole'));
    outbox.accepted(of(1, 1, 2));
    outbox.opened(false);
    expect(takeAll(outbox)).toMatchObject([
      { seq: 1, isFinal: false },
      { requestId: 'whole' },
      { seq: 2, isFinal: true },
    ]);
  });
});

describe('session that moved to another instance', () => {
  it('audio without an outcome is resent once and unchanged', () => {
    const outbox = create();
    say(outbox, 3);
    outbox.addUtterance('whole', piece(), {});
    outbox.addChunk(piece());
    const [whole] = takeAll(outbox);
    outbox.accepted(of(0, 1, 1));
    outbox.accepted(of(1, 2, 2));
    outbox.accepted(of(2, undefined, undefined, 'whole'));
    outbox.settled(0);
    outbox.opened(true, true);
    expect(takeAll(outbox)).toMatchObject([
      { seq: 2, requestId: 'req-1' },
      whole,
      { seq: 3, requestId: 'req-1' },
      { seq: 4 },
    ]);
    expect(outbox.hasFrames()).toBe(false);
    outbox.opened(true);
    expect(takeAll(outbox)).toMatchObject([{ seq: 3 }, { seq: 4 }]);
    outbox.settled(1);
    outbox.settled(2);
    expect(outbox.audioBytes()).toBe(4);
  });

  it('accepted audio is resent, because the new instance may lack it', () => {
    const outbox = create();
    say(outbox, 1);
    outbox.opened(true, true);
    outbox.accepted(of(0, 1, 1));
    expect(takeAll(outbox)).toMatchObject([{ seq: 1 }]);
    outbox.accepted(of(0, 1, 1));
    expect(outbox.hasFrames()).toBe(false);
  });

  it('settled audio and ends without audio are not resent', () => {
    const outbox = create();
    say(outbox, 1);
    outbox.endUtterance();
    takeAll(outbox);
    outbox.accepted(of(0, undefined, undefined, 'req-1'));
    outbox.opened(true, true);
    outbox.settled(0);
    expect(outbox.hasFrames()).toBe(false);
    expect(outbox.isEmpty()).toBe(true);
  });

  it('audio before accepted audio is resent first, beyond the limit', () => {
    const outbox = create({ maxUtterancesInFlight: 3 });
    for (const id of ['a', 'b', 'c', 'd']) outbox.addUtterance(id, piece(), {});
    takeAll(outbox);
    outbox.accepted(of(1, undefined, undefined, 'b'));
    outbox.accepted(of(2, undefined, undefined, 'c'));
    outbox.addUtterance('e', piece(), {});
    outbox.opened(true, true);
    const sent = [];
    while (outbox.blockedMs(1_000_000) === 0) sent.push(outbox.take(1_000_000)?.requestId);
    expect(sent).toEqual(['a', 'b', 'c']);
    outbox.accepted(of(3, undefined, undefined, 'a'));
    for (const index of [3, 1, 2]) outbox.settled(index);
    expect(takeAll(outbox)).toMatchObject([{ requestId: 'd' }, { requestId: 'e' }]);
  });

  it('accepted audio is resent beyond the limit of utterances in flight', () => {
    const outbox = create({ maxUtterancesInFlight: 1 });
    outbox.addUtterance('a', piece(), {});
    takeAll(outbox);
    outbox.accepted(of(0, undefined, undefined, 'a'));
    outbox.addUtterance('b', piece(), {});
    outbox.opened(true, true);
    expect(outbox.blockedMs(1_000_000)).toBe(0);
    expect(outbox.take(0)).toMatchObject({ requestId: 'a' });
    expect(outbox.blockedMs(1_000_000)).toBe(Number.POSITIVE_INFINITY);
  });
});

it('refused audio is kept although later audio has its outcome', () => {
  const outbox = create();
  for (const id of ['a', 'b']) outbox.addUtterance(id, piece(), {});
  takeAll(outbox);
  expect(outbox.refused(undefined, 'a')).toBe(true);
  expect(outbox.refused(7, 'c')).toBe(false);
  outbox.accepted(of(1, undefined, undefined, 'b'));
  outbox.settled(1);
  expect(takeAll(outbox)).toMatchObject([{ requestId: 'a' }]);
});

it('a new session cannot accept audio that was not sent in it', () => {
  const outbox = create();
  say(outbox, 1);
  outbox.opened(false);
  outbox.accepted(of(0, 1, 1));
  outbox.settled(0);
  expect(takeAll(outbox)).toMatchObject([{ seq: 1 }]);
});

describe('utterances in flight', () => {
  it('accepted utterances count, and sent ends count for a limited time', () => {
    const outbox = create();
    for (const id of ['a', 'b', 'c', 'd']) outbox.addUtterance(id, piece(), {});
    for (const sentAt of [0, 10, 20]) {
      expect(outbox.blockedMs(sentAt)).toBe(0);
      outbox.take(sentAt);
    }
    expect(outbox.blockedMs(30)).toBe(ACCEPTED_WITHIN_MS - 30);
    expect(outbox.blockedMs(ACCEPTED_WITHIN_MS)).toBe(0);
    for (const [index, id] of ['a', 'b', 'c'].entries()) outbox.accepted(of(index, undefined, undefined, id));
    expect(outbox.blockedMs(1_000_000)).toBe(Number.POSITIVE_INFINITY);
    outbox.settled(0);
    expect(outbox.blockedMs(1_000_000)).toBe(0);
  });

  it('utterances that must be resent do not count', () => {
    const outbox = create();
    for (const id of ['a', 'b', 'c']) outbox.addUtterance(id, piece(), {});
    takeAll(outbox);
    expect(outbox.blockedMs(0)).toBeGreaterThan(0);
    outbox.opened(true);
    expect(outbox.blockedMs(0)).toBe(0);
  });
});

it('each entry has a minimum size, so that tiny ones are bounded', () => {
  const outbox = create();
  let taken = 0;
  while (outbox.addChunk(piece(1))) taken += 1;
  expect(taken).toBe(15);
  expect(outbox.audioBytes()).toBe(15);
});

it('early outcomes are remembered up to a limit', () => {
  const outbox = create();
  outbox.addUtterance('a', piece(), {});
  takeAll(outbox);
  for (let index = 0; index < 100; index += 1) outbox.settled(index);
  outbox.accepted(of(10, undefined, undefined, 'a'));
  expect(outbox.isEmpty()).toBe(false);
  outbox.accepted(of(99, undefined, undefined, 'a'));
  expect(outbox.isEmpty()).toBe(true);
});
