import { describe, expect, it } from 'vitest';
import { createRoomTally } from '../../../src/cli/simulated-client/room-tally.ts';

/** Ana and Ben hear en, Eva hears es. */
const [ANA, BEN, EVA] = [0, 1, 2];
const LANGUAGES = ['en', 'en', 'es'];
const silent = { utterances: 0, results: 0 };
const said = (utterances: number, results = utterances) => ({ utterances, results });
const final = (seq: number, speaker = ANA) => ({ seq, speaker, isFinal: true });
const open = (seq: number, speaker = ANA) => ({ seq, speaker, isFinal: false });
const clean = { lost: 0, doubled: 0, outOfOrder: 0 };

describe('the tally of a room', () => {
  it('promises what each person said to all others, by language', () => {
    const tally = createRoomTally(LANGUAGES);
    for (const listener of [BEN, EVA]) {
      for (const seq of [1, 2]) expect(tally.caption(listener, final(seq))).toBe('good');
    }
    expect(tally.counts([said(2), silent, silent])).toEqual([
      { language: 'en', listeners: 2, promised: 2, received: 2, ...clean },
      { language: 'es', listeners: 1, promised: 2, received: 2, ...clean },
    ]);
  });

  it('counts as lost what the speaker has a result for and a listener did not get', () => {
    const tally = createRoomTally(LANGUAGES);
    tally.caption(BEN, final(1));
    expect(tally.counts([said(1), silent, silent])).toMatchObject([
      { language: 'en', ...clean },
      { language: 'es', promised: 1, received: 0, lost: 1 },
    ]);
  });

  it('promises what one listener got also if the speaker has no result', () => {
    const tally = createRoomTally(LANGUAGES);
    tally.caption(BEN, final(1));
    expect(tally.counts([said(1, 0), silent, silent])).toMatchObject([{ lost: 0 }, { lost: 1 }]);
    expect(createRoomTally(LANGUAGES).counts([said(1, 0), silent, silent])).toMatchObject([clean, clean]);
  });

  it('a caption without its translation is lost until it is corrected, in its place', () => {
    const tally = createRoomTally(LANGUAGES);
    tally.caption(BEN, final(1));
    tally.caption(BEN, final(2));
    tally.caption(EVA, open(1));
    tally.caption(EVA, final(2));
    expect(tally.counts([said(2), silent, silent])[1]).toMatchObject({ received: 1, lost: 1 });
    expect(tally.caption(EVA, final(1))).toBe('good');
    expect(tally.counts([said(2), silent, silent])[1]).toMatchObject({ received: 2, ...clean });
  });

  it('detects a caption that comes twice', () => {
    const tally = createRoomTally(LANGUAGES);
    tally.caption(EVA, open(1));
    expect(tally.caption(EVA, open(1))).toBe('doubled');
    tally.caption(EVA, final(1));
    expect(tally.caption(EVA, final(1))).toBe('doubled');
    tally.caption(BEN, final(1));
    expect(tally.counts([said(1), silent, silent])).toMatchObject([clean, { lost: 0, doubled: 2 }]);
  });

  it('detects one utterance with two numbers in the room', () => {
    const tally = createRoomTally(LANGUAGES);
    for (const seq of [1, 2]) for (const listener of [BEN, EVA]) tally.caption(listener, final(seq));
    expect(tally.counts([said(1), silent, silent])).toMatchObject([
      { promised: 1, received: 1, lost: 0, doubled: 1 },
      { promised: 1, received: 1, lost: 0, doubled: 1 },
    ]);
  });

  it('detects a caption that comes after a later one', () => {
    const tally = createRoomTally(LANGUAGES);
    tally.caption(EVA, final(2, BEN));
    expect(tally.caption(EVA, final(1))).toBe('out_of_order');
    expect(tally.caption(EVA, final(3))).toBe('good');
    expect(tally.counts([said(2), said(1), silent])[1]).toMatchObject({ doubled: 0, outOfOrder: 1 });
  });
});
