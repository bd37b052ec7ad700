/** The legacy web client goes on sending silence after a sentence, with a final for nearly every 256 ms. */
import { describe, expect, it } from 'vitest';
import { createSessionRig, legacyOpening } from '../support/session-rig.ts';

const CHUNK_MS = 256;
const SILENT = { textAsr: '', textTranslated: '', ttsAudio: '', extra: { reason: 'NO_TEXT_ASSIGNED' } };

/** A sentence whose node takes 20 s, and silence that another node answers at once. */
async function talk() {
  const rig = createSessionRig();
  const { open, dispatcher, clock } = rig;
  const client = open(legacyOpening());
  client.say('the sentence');
  client.say('', { isFinal: true });
  await clock.advance(400);
  const sentence = dispatcher.job('the sentence');
  await sentence.dispatch();
  for (let passed = 0; passed < 20_000; passed += 2 * CHUNK_MS) {
    client.say(`silence ${passed}`);
    await clock.advance(CHUNK_MS);
    client.say('', { isFinal: true });
    await clock.advance(CHUNK_MS);
    const silence = dispatcher.job();
    if (silence === sentence || silence.record.state !== 'CREATED') continue;
    await silence.dispatch();
    silence.finish(SILENT);
  }
  return { ...rig, client, sentence };
}

describe('silence after a sentence', () => {
  it('I5: silence does not discard a sentence that takes 20 s', async () => {
    const { client, sentence, dispatcher } = await talk();
    expect(dispatcher.jobs.length).toBeGreaterThan(15);
    expect(client.link.outcomes()).toEqual([]);
    sentence.finish();
    const [first, ...others] = client.link.outcomes();
    expect(first).toBe('0:the sentence');
    expect(others.length).toBeGreaterThan(15);
    expect(new Set(others.map((one) => one.split('!')[1]))).toEqual(new Set(['silence_detected']));
    expect(dispatcher.cancelled).toEqual([]);
  });

  it('I5: a later sentence waits while a node has the first one', async () => {
    const { client, sentence, dispatcher, clock } = await talk();
    client.say('the second');
    client.say('', { isFinal: true });
    await clock.advance(400);
    await dispatcher.job('the second').dispatch('another node');
    dispatcher.job('the second').finish();
    await clock.advance(15_000);
    expect(client.link.outcomes()).toEqual([]);
    sentence.finish();
    expect(client.link.outcomes()[0]).toBe('0:the sentence');
    expect(client.link.outcomes().at(-1)).toMatch(/:the second$/);
  });

  it('I5: a sentence that is retried is given up after result_gap_timeout_ms', async () => {
    const { client, sentence, dispatcher, clock } = await talk();
    sentence.move('RETRYING');
    client.say('the second');
    client.say('', { isFinal: true });
    await clock.advance(400);
    await dispatcher.job('the second').succeed();
    await clock.advance(9_999);
    expect(client.link.outcomes()).toEqual([]);
    await clock.advance(1);
    expect(client.link.outcomes()[0]).toBe('0!gap_timeout');
  });
});
