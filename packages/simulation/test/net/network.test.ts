/** A partitioned machine goes on running, and nothing passes, in both directions or in one; what waited arrives when the partition ends. */
import { describe, expect, it } from 'vitest';
import { createMachine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { createVirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { createNetwork, type Way } from '../../src/net/network.ts';
import type { WireEnd } from '../../src/net/wire.ts';

/** Longer than any message travels, and than pings take to detect a partition. */
const [SOON_MS, SILENT_MS] = [10, 10_100];

async function connected() {
  const time = createVirtualTime();
  const network = createNetwork({ time, chance: () => 0.5 });
  const [node, instance] = ['node', 'instance'].map((name) => createMachine({ time, name })) as [
    ReturnType<typeof createMachine>,
    ReturnType<typeof createMachine>,
  ];
  const heard: string[] = [];
  const listen = (who: string, end: WireEnd): void =>
    end.listen({ text: (text) => heard.push(`${who} ${text}`), closed: () => heard.push(`${who} closed`) });
  const ends: WireEnd[] = [];
  const dial = (): void =>
    network.connect(
      node,
      instance,
      (end) => {
        ends[1] = end;
        listen('instance', end);
      },
      (end) => {
        heard.push(end === undefined ? 'refused' : 'open');
        if (end === undefined) return;
        ends[0] = end;
        listen('node', end);
      },
    );
  const pass = (ms: number): Promise<void> => time.runUntil(time.now() + ms);
  const say = (): void => {
    ends[0]?.send('out');
    ends[1]?.send('in');
  };
  dial();
  await pass(SOON_MS);
  heard.length = 0;
  return { network, node, instance, heard, dial, pass, say };
}

describe('a partitioned machine', () => {
  it.each<[Way, string[]]>([
    ['both', []],
    ['in', ['instance out']],
    ['out', ['node in']],
  ])('receives or sends nothing (%s) until it is healed', async (way, passing) => {
    const { network, node, heard, pass, say } = await connected();
    network.part(node, way);
    say();
    await pass(SOON_MS);
    expect(heard).toEqual(passing);
    network.heal(node);
    await pass(SOON_MS);
    expect(heard.toSorted()).toEqual(['instance out', 'node in']);
  });

  it('loses its connections and what waited in them after a while', async () => {
    const { network, node, heard, pass, say, dial } = await connected();
    network.part(node);
    say();
    await pass(SILENT_MS);
    expect(heard.toSorted()).toEqual(['instance closed', 'node closed']);
    dial();
    await pass(SILENT_MS);
    expect(heard).toContain('refused');
    network.heal(node);
    dial();
    await pass(SOON_MS);
    expect(heard.at(-1)).toBe('open');
    expect(heard).not.toContain('node in');
  });

  it('keeps its connections if healed in time, and may be partitioned again', async () => {
    const { network, node, heard, pass } = await connected();
    network.part(node);
    await pass(SILENT_MS - 1_000);
    network.heal(node);
    network.part(node);
    await pass(SILENT_MS - 1_000);
    expect(heard).toEqual([]);
    await pass(1_000);
    expect(heard).toHaveLength(2);
  });

  it('gets no answer: its requests, or their answers, are lost', async () => {
    const { network, node, instance, pass } = await connected();
    const asked: string[] = [];
    const ask = (way: Way): void => {
      network.part(node, way);
      void network
        .call(node, instance, SOON_MS, async () => asked.push(`${way} done`))
        .then((answer) => asked.push(`${way} ${answer}`));
    };
    for (const way of ['out', 'in'] as const) {
      ask(way);
      await pass(2 * SOON_MS);
    }
    expect(asked).toEqual(['out undefined', 'in done', 'in undefined']);
  });
});

describe('a connection attempt to a machine that hangs', () => {
  it('succeeds if the machine wakes in time, and fails otherwise', async () => {
    const { instance, heard, dial, pass } = await connected();
    instance.freeze();
    dial();
    await pass(1_000);
    instance.wake();
    await pass(SOON_MS);
    expect(heard).toEqual(['open']);
    instance.freeze();
    dial();
    await pass(2_500);
    expect(heard).toEqual(['open', 'refused']);
    instance.wake();
    await pass(SOON_MS);
    expect(heard).toEqual(['open', 'refused']);
    instance.freeze();
    dial();
    await pass(SOON_MS);
    instance.kill();
    await pass(2_500);
    expect(heard).toEqual(['open', 'refused', 'refused']);
  });
});
