/** What stands before the store refuses at once while it must not, or cannot, be asked. */
import { describe, expect, it } from 'vitest';
import { guarded } from '../../src/cluster/guard.ts';
import { createOutage, NO_OUTAGE } from '../../src/cluster/outage.ts';
import { SchedulerError } from '../../src/domain/errors.ts';
import { createManualClock } from '../support/manual-clock.ts';

const PROBE_MS = 100;
const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };

/** A store that answers or not, as it is told. */
function createRig(options: { outage?: 'none' } = {}) {
  const clock = createManualClock();
  const rig = { isFenced: false, fault: undefined as Error | undefined, asked: 0, probed: 0 };
  const answer = async (value: string): Promise<string> => {
    rig.asked += 1;
    if (rig.fault !== undefined) throw rig.fault;
    return value;
  };
  const probe = async (): Promise<void> => {
    rig.probed += 1;
    if (rig.fault !== undefined) throw rig.fault;
  };
  const outage =
    options.outage === 'none' ? NO_OUTAGE : createOutage({ clock, probe, probeEveryMs: PROBE_MS });
  const store = guarded({ answer, level: () => 7, name: 'store' }, { isFenced: () => rig.isFenced, outage }, [
    'level',
  ]);
  return { clock, rig, outage, store };
}

const silence = (): SchedulerError => new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'no answer');

describe('a guarded port', () => {
  it('is the port, as long as nothing is wrong', async () => {
    const { store } = createRig();
    expect(await store.answer('yes')).toBe('yes');
    expect([store.level(), store.name]).toEqual([7, 'store']);
  });

  it('asks nothing while the instance is fenced, but says what it knows by itself', async () => {
    const { rig, store } = createRig();
    rig.isFenced = true;
    await expect(store.answer('yes')).rejects.toMatchObject(DOWN);
    expect(rig.asked).toBe(0);
    expect(store.level()).toBe(7);
    rig.isFenced = false;
    expect(await store.answer('yes')).toBe('yes');
  });

  it('I7: asks once, refuses everybody after that at once, and asks again when a probe was answered', async () => {
    const { clock, rig, store } = createRig();
    rig.fault = silence();
    for (let times = 0; times < 5; times += 1) await expect(store.answer('yes')).rejects.toMatchObject(DOWN);
    expect(rig.asked).toBe(1);
    await clock.advance(PROBE_MS * 10);
    expect(rig.probed).toBe(11);
    await expect(store.answer('yes')).rejects.toMatchObject(DOWN);
    rig.fault = undefined;
    await clock.advance(PROBE_MS);
    expect(await store.answer('yes')).toBe('yes');
    // And nobody is asked for nothing from then on.
    expect(clock.pending()).toBe(0);
  });

  it('does not take a refusal of something else for an outage', async () => {
    const { rig, store } = createRig();
    rig.fault = new SchedulerError('INTERNAL_ERROR', 'not like this');
    await expect(store.answer('yes')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await expect(store.answer('yes')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect([rig.asked, rig.probed]).toEqual([2, 0]);
  });

  it('lets every question find out by itself where a part may answer while another does not', async () => {
    const { rig, store } = createRig({ outage: 'none' });
    rig.fault = silence();
    for (let times = 0; times < 3; times += 1) await expect(store.answer('yes')).rejects.toMatchObject(DOWN);
    expect(rig.asked).toBe(3);
  });
});

describe('an outage', () => {
  it('is over when somebody else was answered, and is probed no more', async () => {
    const { clock, rig, outage, store } = createRig();
    rig.fault = silence();
    await expect(store.answer('yes')).rejects.toMatchObject(DOWN);
    await clock.advance(PROBE_MS);
    rig.fault = undefined;
    outage.over();
    expect(await store.answer('yes')).toBe('yes');
    const { probed } = rig;
    await clock.advance(PROBE_MS * 5);
    expect(rig.probed).toBe(probed);
  });

  it('is not probed after a stop', async () => {
    const { clock, rig, outage, store } = createRig();
    rig.fault = silence();
    await expect(store.answer('yes')).rejects.toMatchObject(DOWN);
    outage.stop();
    await clock.advance(PROBE_MS * 5);
    expect(clock.pending()).toBe(0);
    expect(rig.probed).toBe(1);
    await expect(store.answer('yes')).rejects.toMatchObject(DOWN);
    expect([rig.probed, outage.isOn()]).toEqual([1, false]);
  });
});
