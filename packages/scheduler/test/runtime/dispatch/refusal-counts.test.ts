/** Under which labels refusals are counted. */
import { describe, expect, it } from 'vitest';
import { createRig, need } from '../rigs/rig.ts';

describe('a refusal because no node fits', () => {
  const selectors = (rig: ReturnType<typeof createRig>) =>
    [...rig.counts.keys()].filter((name) => name.startsWith('scheduler_no_available_node_total'));

  it('is counted under types, models or features', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const refuse = async (part: Partial<ReturnType<typeof need>>) =>
      rig.refusal(await rig.service.dispatch(rig.request({ need: need(part) })));
    await refuse({ directions: [{ source: 'xx', target: 'zh' }] });
    expect(selectors(rig).at(-1)).toMatch(/\{types,/);
    await refuse({ services: ['voice-9'] });
    expect(selectors(rig).at(-1)).toBe('scheduler_no_available_node_total{models,service_not_installed}');
    await refuse({ features: ['emotion_detection'] });
    expect(selectors(rig).at(-1)).toMatch(/\{features,/);
  });

  it('is counted under reserve when the ledger had no slot', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'taken:1', 60_000);
    rig.refusal(await rig.service.dispatch(rig.request()));
    expect(selectors(rig)).toEqual(['scheduler_no_available_node_total{reserve,capacity_exceeded}']);
  });

  it('counts the excluded nodes per reason and keeps five samples', async () => {
    const rig = createRig();
    for (let at = 0; at < 7; at += 1) await rig.addNode(`node-${at}`, 1);
    for (let at = 0; at < 7; at += 1) {
      await rig.ledger.reserve(`node-${at}`, `taken-${at}:1`, 60_000);
      rig.fleet.setLoad(`node-${at}`, { used: 1, max: 1 });
    }
    for (let at = 0; at < 3; at += 1) rig.refusal(await rig.service.dispatch(rig.request()));
    expect(rig.counts.get('scheduler_dispatch_excluded_total{capacity_exceeded}')).toBe(21);
    const samples = rig.service.excluded().get('capacity_exceeded');
    expect(samples).toHaveLength(5);
    expect(samples?.every((nodeId) => /^node-[0-6]$/.test(nodeId))).toBe(true);
  });
});
