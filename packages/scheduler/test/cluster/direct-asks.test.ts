/** Which questions are asked of another instance directly, and which are left to messages. */
import { describe, expect, it } from 'vitest';
import { createDirectAsks } from '../../src/cluster/messaging/direct-asks.ts';
import type { DirectAnswer, LineAddress } from '../../src/ports/direct-line.ts';
import type { Instance } from '../../src/ports/instances.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createTally } from './post-rig.ts';
import { about } from './presence-rig.ts';

const LIMIT_MS = 3_000;
const AVOID_MS = 30_000;
const ANSWERED: DirectAnswer = { kind: 'answered', text: 'yes' };
const UNHEARD = { kind: 'unheard' };
const YOU: Instance = { ...about('you'), advertiseUrl: 'http://you', directKey: 'key-1' };

function start() {
  const clock = createManualClock();
  const { meter, counted } = createTally();
  const state = {
    isFenced: false,
    instances: [YOU] as Instance[],
    answer: ANSWERED as DirectAnswer | Promise<DirectAnswer>,
    isStoreAway: false,
  };
  const asked: { readonly at: LineAddress; readonly limitMs: number }[] = [];
  const asks = createDirectAsks({
    line: {
      async ask(at, _question, limitMs) {
        asked.push({ at, limitMs });
        return state.answer;
      },
      close() {},
    },
    async living() {
      if (state.isStoreAway) throw new Error('not now');
      return new Map(state.instances.map((one) => [one.instanceId, one]));
    },
    isFenced: () => state.isFenced,
    clock,
    meter,
  });
  const count = (outcome: string): number => counted(`scheduler_direct_questions_total ${outcome}`);
  return { clock, asks, asked, state, count, ask: () => asks.ask('you', '?', LIMIT_MS) };
}

describe('a question that may be asked directly', () => {
  it('goes to the address and with the key of who lives, for a share of the time that is given', async () => {
    const { ask, asked, count } = start();
    expect(await ask()).toEqual(ANSWERED);
    expect(asked).toEqual([{ at: { url: 'http://you', key: 'key-1' }, limitMs: LIMIT_MS / 3 }]);
    expect(count('answered')).toBe(1);
  });

  it('is not asked of who has no address or no key, as earlier versions have none', async () => {
    const { ask, asked, state, count } = start();
    for (const field of ['advertiseUrl', 'directKey']) {
      state.instances = [{ ...YOU, [field]: undefined }];
      expect(await ask()).toEqual(UNHEARD);
    }
    expect(asked).toEqual([]);
    expect(count('not_tried')).toBe(2);
  });

  it('I9 goes to nobody who did not live when last looked, nor when nobody could look', async () => {
    const { ask, asked, state } = start();
    state.instances = [];
    expect(await ask()).toEqual(UNHEARD);
    state.isStoreAway = true;
    expect(await ask()).toEqual(UNHEARD);
    expect(asked).toEqual([]);
  });

  it('is not asked by an instance that may have been taken for dead', async () => {
    const { ask, asked, state } = start();
    state.isFenced = true;
    expect(await ask()).toEqual(UNHEARD);
    expect(asked).toEqual([]);
  });

  it('is not tried for a while where nobody could be reached; another life is', async () => {
    const { ask, asked, state, clock } = start();
    state.answer = { kind: 'unreached' };
    expect(await ask()).toEqual(UNHEARD);
    expect(await ask()).toEqual(UNHEARD);
    expect(asked).toHaveLength(1);
    state.instances = [{ ...YOU, incarnation: 'another', directKey: 'key-2' }];
    await ask();
    expect(asked.at(-1)?.at.key).toBe('key-2');
    state.instances = [YOU];
    await clock.advance(AVOID_MS - 1);
    await ask();
    expect(asked).toHaveLength(2);
    await clock.advance(1);
    state.answer = ANSWERED;
    expect(await ask()).toEqual(ANSWERED);
    expect(asked).toHaveLength(3);
  });

  it.each(['busy', 'unclear'] as const)('is tried again after one that was %s', async (kind) => {
    const { ask, asked, state, count } = start();
    state.answer = { kind };
    expect(await ask()).toEqual(kind === 'busy' ? UNHEARD : { kind });
    state.answer = ANSWERED;
    expect(await ask()).toEqual(ANSWERED);
    expect(asked).toHaveLength(2);
    expect(count(kind)).toBe(1);
  });

  it('I11 bounded: is left to messages when very many are under way', async () => {
    const { ask, asks, asked, state } = start();
    const answers: ((answer: DirectAnswer) => void)[] = [];
    const many = Array.from({ length: 256 }, () => {
      state.answer = new Promise((resolve) => answers.push(resolve));
      return ask();
    });
    expect(await ask()).toEqual(UNHEARD);
    expect([asked.length, asks.underWay()]).toEqual([256, 256]);
    for (const answer of answers) answer(ANSWERED);
    await Promise.all(many);
    state.answer = ANSWERED;
    expect(await ask()).toEqual(ANSWERED);
    expect(asks.underWay()).toBe(0);
  });
});
