/** The life of a node as it is legacy today, exactly as its program behaves. */
import { describe, expect, it } from 'vitest';
import { translates } from '../../src/domain/profile.ts';
import { COLD_REPORT, createFixture, READY_REPORT } from './registry-fixture.ts';

describe('a legacy node', () => {
  it('is ready without declared NMT, slots and extensions', async () => {
    const { join, beat, view } = createFixture({ legacySlots: 2 });
    const { generation } = await join();
    await beat({ generation, report: READY_REPORT });
    const seen = view('node-1');
    expect(seen).toMatchObject({ health: 'ready', slots: 2, profile: { isLegacy: true, supports: [] } });
    expect(seen && translates(seen.profile.nmt, 'zh', 'en')).toBe(true);
    expect(seen && translates(seen.profile.nmt, 'en', 'zh')).toBe(true);
  });

  it('has legacy_node_slots, whatever it declares', async () => {
    const { join, beat, view } = createFixture({ legacySlots: 2 });
    const { generation } = await join({ slots: 8 });
    expect(view('node-1')?.slots).toBe(2);
    await beat({ generation, slots: 8 });
    expect(view('node-1')?.slots).toBe(2);
  });

  it('starts with empty lists and is ready once its services run', async () => {
    const { join, beat, clock, view, health } = createFixture();
    await join({ report: COLD_REPORT });
    await beat({ report: COLD_REPORT });
    await clock.advance(15_000);
    await beat({ report: COLD_REPORT });
    expect(view('node-1')).toMatchObject({
      health: 'registering',
      profile: { asr: [], semantic: [], tts: [] },
    });
    await beat({ report: READY_REPORT });
    expect(health('node-1')).toBe('ready');
    expect(view('node-1')?.profile.semantic).toEqual(['en', 'zh']);
  });

  it('may ignore the heartbeat interval', async () => {
    const { join, beat, clock, of } = createFixture({ heartbeatIntervalMs: 5_000 });
    await join();
    await beat();
    for (let round = 0; round < 10; round += 1) {
      await clock.advance(15_000);
      await beat();
    }
    expect(of('changed').filter(({ view }) => !view.isFresh)).toEqual([]);
  });

  it('reconnects after five seconds with a heartbeat before its registration', async () => {
    const { readyNode, registry, beat, join, clock, health, counts } = createFixture();
    const { generation } = await readyNode();
    registry.disconnected('node-1', generation);
    await clock.advance(5_000);
    expect(await beat({ generation })).toEqual({ kind: 'stale_generation' });
    const back = await join();
    expect(back).toMatchObject({ nodeId: 'node-1', isReturning: true, health: 'registering' });
    await beat({ generation: back.generation });
    expect(health('node-1')).toBe('ready');
    expect(counts.get('scheduler_node_registrations_total returned')).toBe(1);
  });

  it('reconnects before its old socket closes, and the close changes nothing', async () => {
    const { readyNode, registry, clock, health, of } = createFixture();
    const old = await readyNode();
    await readyNode();
    registry.disconnected('node-1', old.generation);
    await clock.advance(5_000);
    expect(health('node-1')).toBe('ready');
    expect(of('disconnected')).toEqual([]);
  });

  it('adopts a fresh id when its own is taken', async () => {
    const { join, beat, health } = createFixture();
    await join({ credential: 'peer-1' });
    const { nodeId, generation } = await join({ credential: 'peer-2' });
    expect(nodeId).not.toBe('node-1');
    await beat({ nodeId, generation });
    expect(health(nodeId)).toBe('ready');
    expect(health('node-1')).toBe('registering');
  });

  it('is drained although it keeps reporting ready', async () => {
    const { readyNode, registry, beat, ledger } = createFixture();
    await readyNode();
    await registry.control('node-1', 'drain');
    for (let round = 0; round < 5; round += 1) await beat({ report: READY_REPORT });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
  });

  it('of the first protocol generation registers as well', async () => {
    const { join, beat, view } = createFixture();
    const serviceStates = new Map([
      ['node-inference', 'ready'],
      ['nmt-m2m100', 'ready'],
      ['piper-tts', 'ready'],
    ]);
    const services = [...serviceStates.keys()].map((serviceId) => ({ serviceId }));
    await join({ schemaVersion: '1.0', report: { models: [], services, serviceStates } });
    await beat();
    expect(view('node-1')).toMatchObject({
      health: 'ready',
      profile: { readyTypes: ['asr', 'nmt', 'semantic', 'tts'], semantic: 'any' },
    });
  });
});
