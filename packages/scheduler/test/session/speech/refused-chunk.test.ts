/** A chunk that cannot be used: its utterance is refused as a whole and has exactly one answer, an error. */
import { describe, expect, it } from 'vitest';
import { createSessionRig } from '../support/session-rig.ts';

const UNUSABLE = { audio: undefined, refusal: { path: '/payload', message: '"payload" must be base64' } };

describe('an utterance with an unusable chunk', () => {
  it('an utterance with an unusable chunk has one answer, which names all its chunks', async () => {
    const { open, dispatcher, audio } = createSessionRig();
    const client = open();
    client.say('before', { seq: 1, requestId: 'r1' });
    client.say('', { ...UNUSABLE, seq: 2, requestId: 'r1' });
    client.say('', { ...UNUSABLE, seq: 3, requestId: 'r1' });
    client.say('after', { seq: 4, requestId: 'r1', isFinal: true });
    client.say('next', { seq: 5, requestId: 'r2', isFinal: true });
    expect(client.link.of('error')).toMatchObject([
      {
        code: 'INVALID_MESSAGE',
        message: UNUSABLE.refusal.message,
        details: { path: '/payload', request_id: 'r1', first_seq: 1, last_seq: 4 },
      },
    ]);
    expect(dispatcher.jobs.map(({ text }) => text)).toEqual(['next']);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:next']);
    expect(audio.size()).toBe(0);
  });

  it('without an end the answer comes after the pause', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    client.say('', { ...UNUSABLE, seq: 1 });
    expect(client.link.of('error')).toEqual([]);
    await clock.advance(1_150);
    expect(client.link.of('error')).toMatchObject([{ details: { first_seq: 1, last_seq: 1 } }]);
    expect(dispatcher.jobs).toEqual([]);
  });

  it('the answer comes before the end of a closing session', () => {
    const { open } = createSessionRig();
    const client = open();
    client.say('', { ...UNUSABLE, seq: 1 });
    client.send({ kind: 'close' });
    const kinds = client.link.sent.map(({ kind }) => kind);
    expect(kinds.indexOf('error')).toBeGreaterThan(-1);
    expect(kinds.indexOf('closed')).toBeGreaterThan(kinds.indexOf('error'));
  });

  it('a client that missed the answer gets it again for the repeated chunks', () => {
    const { open } = createSessionRig();
    const client = open();
    client.say('', { ...UNUSABLE, seq: 1, requestId: 'r1' });
    client.leave();
    client.say('end', { seq: 2, requestId: 'r1', isFinal: true });
    const again = client.resume();
    again.say('', { ...UNUSABLE, seq: 1, requestId: 'r1' });
    again.say('end', { seq: 2, requestId: 'r1', isFinal: true });
    expect(again.link.of('error')).toMatchObject([{ details: { first_seq: 1, last_seq: 2 } }]);
  });
});
