/** A sentence that its node does not answer, and the translation of the next one that waits behind it. */
import { describe, expect, it } from 'vitest';
import { createSessionRig, legacyOpening, SETTINGS } from '../support/session-rig.ts';

const { gapTimeoutMs, gapMaxMs } = SETTINGS.delivery;
/** Two of them, sent after the hand-over, end the attempt: after 30 s at the latest. */
const HEARTBEAT_MS = 15_000;

/** The first sentence is on node-1, and the second is translated 500 ms later. */
async function talk(secondNode: string, first: 'sent' | 'acknowledged' = 'sent') {
  const rig = createSessionRig();
  const { open, dispatcher, clock } = rig;
  const client = open(legacyOpening());
  for (const text of ['one', 'two']) {
    client.say(text);
    client.say('', { isFinal: true });
    await clock.advance(400);
  }
  const [one, two] = [dispatcher.job('one'), dispatcher.job('two')];
  await one.dispatch('node-1');
  if (first === 'acknowledged') one.move('RUNNING');
  await two.dispatch(secondNode);
  await clock.advance(500);
  two.finish();
  return { ...rig, client, one, received: () => client.link.outcomes() };
}

describe('a sentence without an answer', () => {
  it('I5: a repeated sentence on a legacy node blocks the next one for result_gap_timeout_ms', async () => {
    const { clock, received } = await talk('node-1');
    expect(gapTimeoutMs).toBeLessThan(HEARTBEAT_MS);
    await clock.advance(gapTimeoutMs - 1);
    expect(received()).toEqual([]);
    await clock.advance(1);
    expect(received()).toEqual(['0!gap_timeout', '1:two']);
  });

  it('I5: the answer of another node does not end the work of a legacy node', async () => {
    const { clock, one, received } = await talk('node-2');
    await clock.advance(2 * HEARTBEAT_MS - 1);
    expect(received()).toEqual([]);
    one.finish();
    expect(received()).toEqual(['0:one', '1:two']);
  });

  it('I5: an acknowledged sentence stays in work when its node answers a later one', async () => {
    const { clock, one, received } = await talk('node-1', 'acknowledged');
    await clock.advance(gapMaxMs - 1);
    expect(received()).toEqual([]);
    one.finish();
    expect(received()).toEqual(['0:one', '1:two']);
  });

  it('I5: a sentence whose node fails after result_gap_timeout_ms is still retried', async () => {
    const { clock, dispatcher, one, received } = await talk('node-2', 'acknowledged');
    await clock.advance(gapTimeoutMs + 5_000);
    one.move('RETRYING');
    expect(received()).toEqual([]);
    await clock.advance(gapTimeoutMs - 1);
    one.retry();
    await clock.advance(1_000);
    one.finish();
    expect(received()).toEqual(['0:one', '1:two']);
    expect(dispatcher.cancelled).toEqual([]);
  });

  it('I5: a sentence that is retried in vain is given up after result_gap_timeout_ms more', async () => {
    const { clock, one, received } = await talk('node-2', 'acknowledged');
    await clock.advance(gapTimeoutMs + 5_000);
    one.move('RETRYING');
    await clock.advance(gapTimeoutMs - 1);
    expect(received()).toEqual([]);
    await clock.advance(1);
    expect(received()).toEqual(['0!gap_timeout', '1:two']);
  });
});
