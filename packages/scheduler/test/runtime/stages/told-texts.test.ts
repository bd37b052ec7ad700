/** Plans settle a text that is told before the voice of its chain. */
import { describe, expect, it } from 'vitest';
import { settled, startPlan } from './plan-rig.ts';

describe('a text that is told before the voice of its chain', () => {
  const SPOKEN = [{ language: 'es', isVoiceWanted: true }];
  const ends = (events: readonly string[]) => events.filter((event) => !event.startsWith('moved'));

  it('settles the text once; the voice follows', async () => {
    const { chain, events } = startPlan(SPOKEN, {}, () => true);
    await settled();
    await chain('whole:es').tell('hello', '');
    expect(ends(events)).toEqual(['admitted', 'recognised en hello']);
    await chain('whole:es').tell('hello', 'hola');
    expect(ends(events).slice(2)).toEqual(['es/text hello|hola|']);
    await chain('whole:es').tell('hello', 'hola again');
    await chain('whole:es').finish('hola', {});
    expect(ends(events).slice(3)).toEqual(['es/voice hola|hola|']);
  });

  it('stays although its chain fails afterwards', async () => {
    const { chain, events } = startPlan(SPOKEN, {}, () => true);
    await settled();
    await chain('whole:es').tell('hello', 'hola');
    await chain('whole:es').fail('TTS_TIMEOUT');
    expect(ends(events).slice(2)).toEqual([
      'es/text hello|hola|',
      'es/voice failed TTS_TIMEOUT: failed: TTS_TIMEOUT',
    ]);
  });

  it('is not waited for when the part was cancelled', async () => {
    const { plan, chain, events } = startPlan(SPOKEN, {}, () => true);
    await settled();
    plan.cancel('left', 'JOB_CANCELLED');
    await chain('whole:es').tell('hello', 'hola');
    expect(ends(events)).not.toContain('es/text hello|hola|');
  });
});
