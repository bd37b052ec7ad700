/** The ground the simulation stands on: time, processes and chance. */
import { describe, expect, it } from 'vitest';
import { createMachine } from '../../../src/plan/kernel/machine.ts';
import { seededChance } from '../../../src/plan/kernel/seeded-chance.ts';
import { createVirtualTime } from '../../../src/plan/kernel/virtual-time.ts';

describe('virtual time', () => {
  it('does what is due in order, and what is due at once in the order of planning', async () => {
    const time = createVirtualTime();
    const seen: string[] = [];
    const note = (what: string) => () => void seen.push(`${what}@${time.now()}`);
    time.at(5, note('late'));
    time.at(1, note('first'));
    time.at(1, note('second'));
    time.at(3, note('cancelled'))();
    await time.runUntil(4);
    expect(seen).toEqual(['first@1', 'second@1']);
    expect(time.now()).toBe(4);
    await time.runUntil(Number.POSITIVE_INFINITY);
    expect(seen).toEqual(['first@1', 'second@1', 'late@5']);
  });

  it('keeps its order however many are planned, cancelled and added on the way', async () => {
    const time = createVirtualTime();
    const chance = seededChance('heap');
    const seen: number[] = [];
    for (let at = 0; at < 2_000; at++) {
      const cancel = time.at(Math.floor(chance() * 500), () => {
        seen.push(time.now());
        if (chance() < 0.3) time.at(time.now() + chance() * 10, () => void seen.push(time.now()));
      });
      if (chance() < 0.2) cancel();
    }
    await time.runUntil(Number.POSITIVE_INFINITY);
    expect(seen.length).toBeGreaterThan(1_500);
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
  });

  it('keeps every promise of one event before the next one happens', async () => {
    const time = createVirtualTime();
    const seen: string[] = [];
    async function longChain(): Promise<void> {
      for (let link = 0; link < 50; link++) await null;
      seen.push('kept');
    }
    time.at(1, () => void longChain());
    time.at(1, () => void seen.push('next'));
    await time.runUntil(2);
    expect(seen).toEqual(['kept', 'next']);
  });

  it('ends with what an event throws', async () => {
    const time = createVirtualTime();
    time.at(1, () => {
      throw new Error('broken');
    });
    await expect(time.runUntil(2)).rejects.toThrow('broken');
  });
});

describe('a machine', () => {
  it('does nothing while it is frozen, and then everything that was due', async () => {
    const time = createVirtualTime();
    const machine = createMachine({ time, name: 'a' });
    const seen: string[] = [];
    machine.clock.after(10, () => void seen.push(`timer@${time.now()}`));
    const cancel = machine.clock.after(11, () => void seen.push('cancelled'));
    machine.freeze();
    time.at(15, () => machine.deliver(() => void seen.push(`word@${time.now()}`)));
    time.at(20, () => {
      machine.wake();
      cancel();
    });
    await time.runUntil(30);
    expect(seen).toEqual(['timer@20', 'word@20']);
  });

  it('does nothing any more once it is killed, frozen or not', async () => {
    const time = createVirtualTime();
    const machine = createMachine({ time, name: 'a' });
    let happened = 0;
    machine.clock.after(1, () => happened++);
    machine.freeze();
    machine.clock.after(2, () => happened++);
    time.at(3, () => machine.kill());
    time.at(4, () => machine.wake());
    time.at(5, () => machine.deliver(() => happened++));
    await time.runUntil(10);
    expect(happened).toBe(0);
  });

  it('counts the time for which it slept, which its timers do not', async () => {
    const time = createVirtualTime();
    const machine = createMachine({ time, name: 'a' });
    const begun = machine.clock.now();
    const seen: string[] = [];
    machine.clock.after(10, () => void seen.push(`timer@${time.now()}`));
    time.at(4, machine.sleep);
    time.at(15, () => machine.deliver(() => void seen.push(`word@${machine.clock.now() - begun}`)));
    time.at(24, machine.wake);
    await time.runUntil(40);
    expect(seen).toEqual(['word@24', 'timer@30']);
    expect(machine.clock.now() - begun).toBe(40);
    machine.suspend();
    time.at(50, machine.wake);
    await time.runUntil(60);
    expect(machine.clock.now() - begun).toBe(50);
  });

  it('knows nothing of the time for which it was suspended', async () => {
    const time = createVirtualTime();
    const machine = createMachine({ time, name: 'a' });
    const startedAt = machine.clock.now();
    const rang: number[] = [];
    machine.clock.after(10, () => rang.push(time.now()));
    machine.clock.after(30, () => rang.push(time.now()));
    machine.clock.after(40, () => rang.push(time.now()))();
    time.at(5, () => machine.suspend());
    time.at(20, () => machine.deliver(() => rang.push(-time.now())));
    time.at(105, () => machine.wake());
    await time.runUntil(120);
    expect(machine.clock.now() - startedAt).toBe(20);
    expect(rang).toEqual([-105, 110]);
    await time.runUntil(200);
    expect(rang).toEqual([-105, 110, 130]);
  });

  it('may have a clock that is wrong', () => {
    const time = createVirtualTime();
    const right = createMachine({ time, name: 'a' });
    const wrong = createMachine({ time, name: 'b', clockOffsetMs: -2_000 });
    expect(right.clock.now() - wrong.clock.now()).toBe(2_000);
  });
});

describe('chance', () => {
  it('is the same for the same seed, and another for another', () => {
    const draw = (seed: string) => Array.from({ length: 5 }, seededChance(seed));
    expect(draw('7/nodes')).toEqual(draw('7/nodes'));
    expect(draw('7/nodes')).not.toEqual(draw('7/clients'));
  });

  it('is spread evenly', () => {
    const chance = seededChance('even');
    const buckets = new Array<number>(10).fill(0);
    for (let at = 0; at < 100_000; at++) {
      const bucket = Math.floor(chance() * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    const squares = buckets.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    // 0.999 quantile of chi-square with nine degrees of freedom.
    expect(squares).toBeLessThan(27.9);
  });
});
