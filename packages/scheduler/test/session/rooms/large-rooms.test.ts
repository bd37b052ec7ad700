/** Rooms with many listeners, on stepped time: what an utterance costs, and what a late listener gets. */
import { expect, it } from 'vitest';
import { createRoomsRig } from './support/rooms-rig.ts';

const LANGUAGES = ['es', 'fr', 'de'];

/** Calls of the stores, and messages between instances, for three utterances in as many languages. */
async function callsWith(listeners: number): Promise<{ readonly calls: number; readonly captions: number }> {
  const rig = createRoomsRig({ maxMembers: 2_000 });
  const instances = ['a', 'b', 'c'].map((name) => rig.start(name));
  const [a] = instances as [(typeof instances)[0]];
  const host = await a.enter('host', 'en');
  const members = [];
  for (let at = 0; at < listeners; at += 1) {
    const instance = instances[at % instances.length] as typeof a;
    const language = LANGUAGES[at % LANGUAGES.length] ?? '';
    members.push(await instance.enter(`listener-${at}`, language, { role: 'listener' }));
  }
  // Those above the number of listed members are counted by then.
  await rig.clock.advance(3_000);
  let calls = 0;
  const { log, records, followers } = rig.stores;
  for (const store of [log, records, followers] as unknown as Record<
    string,
    (...given: never[]) => unknown
  >[])
    for (const [name, call] of Object.entries(store))
      store[name] = (...given) => {
        calls += 1;
        return call(...given);
      };
  for (const { rooms } of instances) {
    const { receive } = rooms;
    Object.assign(rooms, {
      receive(...given: Parameters<typeof receive>) {
        calls += 1;
        return receive(...given);
      },
    });
  }
  for (const text of ['one', 'two', 'three']) {
    await host.say(text);
    await a.recognise(text);
    for (const language of LANGUAGES) await a.translate(text, language);
  }
  const captions = members.reduce((sum, member) => sum + member.captions().length, 0);
  return { calls, captions };
}

it('an utterance costs the same with 10 and with 1,000 listeners', async () => {
  const few = await callsWith(10);
  const many = await callsWith(1_000);
  expect([few.captions, many.captions]).toEqual([30, 3_000]);
  expect(many.calls).toBe(few.calls);
  expect(few.calls).toBeGreaterThan(0);
});

it('a late listener gets the last 50 captions of its language at once, without a further read of the log', async () => {
  const rig = createRoomsRig();
  const a = rig.start('a');
  const host = await a.enter('host', 'en');
  await a.enter('first', 'es');
  for (let number = 1; number <= 60; number += 1) {
    await host.say(`text ${number}`);
    await a.recognise(`text ${number}`);
    await a.translate(`text ${number}`, 'es');
  }
  const { read } = rig.stores.log;
  rig.stores.log.read = async () => {
    throw new Error('the log is read');
  };
  const late = await a.enter('late', 'es');
  rig.stores.log.read = read;
  expect(late.captions()).toEqual(Array.from({ length: 50 }, (_, at) => `${at + 11} <text ${at + 11} es>`));
  // On an instance that did not follow the room before, too.
  expect((await rig.start('b').enter('elsewhere', 'es')).captions()).toEqual(late.captions());
});
