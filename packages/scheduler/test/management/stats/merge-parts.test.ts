/** Statistics of several instances: every instance shows the same, which is the sum of all. */
import { describe, expect, it } from 'vitest';
import { createLocks } from '../../../src/adapters/memory/locks.ts';
import { mergeParts } from '../../../src/management/stats/merge-parts.ts';
import { createSharedSource } from '../../../src/management/stats/shared-source.ts';
import { readPart, type StatsPart } from '../../../src/management/stats/stats-part.ts';
import type { Locks } from '../../../src/ports/locks.ts';
import type { StatsStore } from '../../../src/ports/stats-store.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { finish, NOTHING, SILENT } from './stats-fixture.ts';

const part = (nodeId: string, users: number): StatsPart => ({
  activeUsers: users,
  languages: [
    ['zh', users, 0],
    ['en', 0, users],
  ],
  connectedNodes: 1,
  models: [],
  services: [['asr-1', 1]],
  types: [['asr', 1]],
  typesInUse: [],
  power: { cpu: users, gpu: 1, memory: 2 },
  details: [{ nodeId, cpu: users, gpu: 1, memory: 2 }],
});

describe('merged parts', () => {
  it('are their sum', () => {
    expect(finish(mergeParts([part('a', 1), part('b', 2)]))).toEqual({
      activeUsers: 3,
      languages: [
        ['en', 0, 3],
        ['zh', 3, 0],
      ],
      connectedNodes: 2,
      models: [],
      services: [['asr-1', 2]],
      types: [['asr', 2]],
      typesInUse: [],
      power: { cpu: 3, gpu: 2, memory: 4 },
      details: [
        { nodeId: 'b', cpu: 2, gpu: 1, memory: 2 },
        { nodeId: 'a', cpu: 1, gpu: 1, memory: 2 },
      ],
    });
  });

  it('I11 bounded: are not longer than one part', () => {
    const wide = (who: string): StatsPart => ({
      ...NOTHING,
      services: Array.from({ length: 500 }, (_, at) => [`${who}-${at}`, 2] as const),
      details: Array.from({ length: 1_000 }, (_, at) => ({
        nodeId: `${who}-${at}`,
        cpu: 1,
        gpu: 0,
        memory: 0,
      })),
    });
    const { services, details } = finish(mergeParts([wide('a'), wide('b'), wide('c')]));
    expect(services).toHaveLength(501);
    expect(services.at(-1)).toEqual(['other', 2_000]);
    expect(details).toHaveLength(500);
  });

  it('can be read as written; anything else is rejected', () => {
    const whole = part('a', 1);
    expect(readPart(JSON.stringify(whole))).toEqual(whole);
    const { power, ...powerless } = whole;
    const wrong = [null, 7, [], {}, powerless, { ...whole, services: [1] }, { ...whole, details: [null] }];
    for (const value of wrong) expect(readPart(JSON.stringify(value))).toBeUndefined();
    const [detail] = whole.details;
    for (const odd of [
      { services: [['asr-1', '1']] },
      { services: [[1, 1]] },
      { languages: [['zh', 1]] },
      { details: [{ ...detail, cpu: null }] },
      { details: [{ ...detail, efficiencies: { asr: 1 } }] },
      { padding: 'x'.repeat(2_000_000) },
    ])
      expect(readPart(JSON.stringify({ ...whole, ...odd })), Object.keys(odd)[0]).toBeUndefined();
    const efficient = { ...whole, details: [{ ...detail, efficiencies: [['asr', 1.5]] }] };
    expect(readPart(JSON.stringify(efficient))).toEqual(efficient);
    expect(readPart('{"activeUsers":')).toBeUndefined();
    expect(power).toBeDefined();
  });
});

describe('several instances', () => {
  interface Rig {
    readonly clock: ManualClock;
    readonly statsStore: StatsStore;
    readonly locks: Locks;
    living: string[];
    merges: number;
  }

  function createRig(): Rig {
    const clock = createManualClock();
    const memory = createTestCluster({ clock }).store.statsStore;
    const rig: Rig = {
      clock,
      locks: createLocks({ clock }),
      living: ['one', 'two'],
      merges: 0,
      statsStore: {
        ...memory,
        publish(text, ttlMs) {
          rig.merges += 1;
          return memory.publish(text, ttlMs);
        },
      },
    };
    return rig;
  }

  function join(
    rig: Rig,
    instanceId: string,
    own: () => StatsPart,
    options: { isFenced?: () => boolean } = {},
  ) {
    const source = createSharedSource({
      count: async () => own(),
      statsStore: rig.statsStore,
      locks: rig.locks,
      instanceId,
      living: async () => rig.living,
      isFenced: options.isFenced ?? (() => false),
      clock: rig.clock,
      log: SILENT,
      intervalMs: 5_000,
    });
    return {
      ...source,
      async build() {
        const building = source.build();
        building.catch(() => undefined);
        await rig.clock.advance(10);
        return building;
      },
    };
  }

  it('agree on the sum of their parts', async () => {
    const rig = createRig();
    const one = join(rig, 'one', () => part('a', 1));
    const two = join(rig, 'two', () => part('b', 2));
    await one.build();
    await two.build();
    await rig.clock.advance(5_000);
    const seen = await one.build();
    expect(seen?.stats).toMatchObject({ activeUsers: 3, connectedNodes: 2, services: [['asr-1', 2]] });
    expect((await two.look())?.stats).toEqual(seen?.stats);
  });

  it('merge once per round, on any instance', async () => {
    const rig = createRig();
    const sources = ['one', 'two', 'three'].map((name) => join(rig, name, () => part(name, 1)));
    for (let round = 0; round < 4; round += 1) {
      for (const source of sources) await source.build();
      await rig.clock.advance(4_970);
    }
    expect(rig.merges).toBe(4);
  });

  it('do not count dead instances whose part still exists', async () => {
    const rig = createRig();
    const one = join(rig, 'one', () => part('a', 1));
    await join(rig, 'two', () => part('b', 2)).build();
    rig.living = ['one'];
    await rig.clock.advance(5_000);
    expect((await one.build())?.stats.connectedNodes).toBe(1);
  });

  it('skip a part that they cannot read', async () => {
    const rig = createRig();
    await rig.statsStore.write('two', '{"of":"another version"}', 60_000);
    expect((await join(rig, 'one', () => part('a', 1)).build())?.stats.connectedNodes).toBe(1);
  });

  it('compute the age of a snapshot by the clock of the store', async () => {
    const rig = createRig();
    await join(rig, 'one', () => part('a', 1)).build();
    await rig.clock.advance(3_000);
    const seen = await join(rig, 'two', () => part('b', 2)).look();
    expect(rig.clock.now() - (seen?.updatedAt ?? 0)).toBe(3_010);
  });

  it('show nothing while the store does not answer', async () => {
    const rig = createRig();
    const away = () => Promise.reject(new Error('away'));
    for (const broken of ['write', 'read', 'publish', 'latest'] as const) {
      const one = join({ ...rig, statsStore: { ...rig.statsStore, [broken]: away } }, 'one', () =>
        part('a', 1),
      );
      await expect(one.build(), broken).rejects.toThrow('away');
      await rig.clock.advance(5_000);
    }
  });

  it('write nothing while they may have been declared dead', async () => {
    const rig = createRig();
    expect(await join(rig, 'one', () => part('a', 1), { isFenced: () => true }).build()).toBeUndefined();
    expect(await rig.statsStore.read('one')).toBeUndefined();
    expect(rig.merges).toBe(0);
  });
});
