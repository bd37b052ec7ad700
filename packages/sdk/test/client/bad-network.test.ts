/** A long conversation over a failing network, with a scheduler that restarts at times. */
import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openSession } from '../../src/client/index.ts';
import { createAnsweringScript } from './support/answering-scheduler.ts';
import { type ScriptedScheduler, startScriptedScheduler, until } from './support/scripted-scheduler.ts';

let scheduler: ScriptedScheduler | undefined;
afterEach(() => scheduler?.stop());

/** The same numbers in each run (mulberry32). */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

it.each([1, 2, 3, 4])('nothing is lost, repeated or reordered over a failing network (%i)', async (seed) => {
  const chance = createChance(seed);
  // Its own generator, drawn once per message: the time of the first cut does not depend on the speed of the machine.
  const fate = createChance(seed + 1_000);
  const script = createAnsweringScript();
  let cuts = 0;
  const served = await startScriptedScheduler({
    ...script,
    onMessage(message, reply) {
      const luck = fate();
      // Before the message was handled, after it was answered, or together with all sessions.
      if (luck < 0.1) {
        cuts += 1;
        if (luck < 0.02) script.forget();
        if (luck < 0.05) script.onMessage?.(message, reply);
        served.cut();
      } else script.onMessage?.(message, reply);
    },
  });
  scheduler = served;
  const session = openSession({
    url: served.url,
    srcLang: 'en',
    tgtLang: 'de',
    WebSocket,
    chance,
    timings: { quickMs: 2, firstMs: 2, longestMs: 10, ackDelayMs: 1 },
  });
  const heard: string[] = [];
  session.on('result', ({ textAsr }) => heard.push(textAsr));
  const said: string[] = [];
  for (let utterance = 0; utterance < 60; utterance += 1) {
    let text = '';
    for (let chunk = 0; chunk <= chance() * 5; chunk += 1) {
      const piece = `${utterance}.${chunk} `;
      text += piece;
      expect(session.sendAudio(new TextEncoder().encode(piece))).toBe(true);
      await new Promise(setImmediate);
    }
    session.endUtterance();
    said.push(text);
  }
  await session.settled();
  expect(heard).toEqual(said);
  expect(cuts).toBeGreaterThan(0);
  expect(served.refused).toEqual([]);
  await session.close();
  await until(() => session.state === 'closed');
});
