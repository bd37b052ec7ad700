/** Rooms with members on several instances and real Redis, one of which is killed while it drives. */
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startInstances } from '../multi-instance/start-instances.ts';
import { startBehindBalancer } from '../multi-instance/start-processes.ts';
import { ensureBuilt } from '../support/ensure-built.ts';
import { perform } from '../support/stage-nodes.ts';
import { describeLegacyRooms } from './legacy-room-cases.ts';
import { connectMember, createRoom, joinNodes, joinRoom } from './support.ts';

const EN = { speaks: 'en', hears: 'en' };
const ES = { speaks: 'en', hears: 'es' };

beforeAll(ensureBuilt, 300_000);

describeLegacyRooms('on two instances', async (settings) => {
  const { instances } = await startInstances(2, settings);
  return instances as unknown as [(typeof instances)[0], (typeof instances)[0]];
});

describe('a room across instances', () => {
  it('R1: each member gets its language in order, wherever it is connected', async () => {
    const { instances } = await startInstances(2);
    const [a, b] = instances as [(typeof instances)[0], (typeof instances)[0]];
    const [recogniser, translator] = await joinNodes(b.nodeUrl);
    await a.readyNodes(2);
    const host = await connectMember(a, EN);
    const code = await createRoom(host);
    const near = await connectMember(a, ES);
    const far = await connectMember(b, ES);
    for (const member of [near, far]) await joinRoom(member, code);
    for (const text of ['one', 'two', 'three']) {
      host.say(text);
      await host.outcome(host.outcomes().length + 1);
    }
    const wanted = ['1 es one>es', '2 es two>es', '3 es three>es'];
    expect(await near.shown(3)).toEqual(wanted);
    expect(await far.shown(3)).toEqual(wanted);
    expect(recogniser?.jobs).toHaveLength(3);
    expect(translator?.jobs).toHaveLength(3);
    far.say('four');
    expect(await near.shown(4)).toEqual([...wanted, '4 es four>es']);
  });

  it('R1, R5: what a killed instance had accepted is shown once, in order, to members elsewhere', {
    timeout: 120_000,
  }, async () => {
    const { first, others } = await startBehindBalancer('rooms');
    const [b, c] = others as [(typeof others)[0], (typeof others)[0]];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const started: string[] = [];
    await joinNodes(b.nodeUrl, ['recogniser', 'translator'], {
      async onJob(job, context) {
        if (job.input_text !== undefined) {
          started.push(job.job_id);
          await released;
        }
        return perform(job, context);
      },
    });
    await first.readyNodes(2);
    const host = await connectMember(first, EN);
    const code = await createRoom(host);
    const [es, en] = [await connectMember(b, ES), await connectMember(c, EN)];
    for (const member of [es, en]) await joinRoom(member, code);
    for (const text of ['one', 'two', 'three']) host.say(text);
    // The audio is lost with its instance until its client sends it again, so that it is recognised before.
    await host.outcome(3);
    await eventually(() => started.length > 0);
    await first.kill();
    release();
    await eventually(() => {
      if (es.captions().length < 3) throw new Error(JSON.stringify([es.captions(), en.captions(), started]));
      return true;
    });
    expect(await es.shown(3)).toEqual(['1 es one>es', '2 es two>es', '3 es three>es']);
    expect(await en.shown(3)).toEqual(['1 en one', '2 en two', '3 en three']);
    const away = () => JSON.stringify(es.of('room_delta')).includes('"away":true');
    await eventually(away);
  });
});
