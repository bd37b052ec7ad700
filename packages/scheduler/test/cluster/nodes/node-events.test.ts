/** Events of nodes here and at other instances reach selection, the engine, and the holder of the node. */
import { describe, expect, it } from 'vitest';
import { nodeRecordFor, viewFor } from '../../contracts/node-record-fixtures.ts';
import { someNeed } from '../../runtime/fleet/fleet-fixture.ts';
import { GRACE_MS, startNodeEvents, statusOf } from './node-events-rig.ts';

const OTHER = { instanceId: 'other', incarnation: 'other-1' };

describe('a node of another instance', () => {
  it('enters selection with its record and the load from the ledger', async () => {
    const { nodeEvents, fleet, ledger, settle } = startNodeEvents();
    await ledger.declare('n1', { slots: 4, isAccepting: true });
    await ledger.reserve('n1', 'job:1', 5_000);
    const record = nodeRecordFor({ nodeId: 'n1', holder: OTHER });
    nodeEvents.ofOthers.changed(record, undefined);
    await settle(() => fleet.load('n1')?.used === 1);
    expect(fleet.view('n1')).toEqual(record.view);
    nodeEvents.ofOthers.changed({ ...record, view: { ...record.view, isCordoned: true } }, record);
    expect(fleet.view('n1')?.isCordoned).toBe(true);
  });

  it('has its load read in one batch with other new nodes', async () => {
    const { nodeEvents, store, requested, settle } = startNodeEvents();
    const records = ['n1', 'n2', 'n3'].map((nodeId) => nodeRecordFor({ nodeId, holder: OTHER }));
    for (const record of records) nodeEvents.ofOthers.changed(record, undefined);
    for (const record of records) nodeEvents.ofOthers.changed(record, record);
    await settle(() => store.calls('loads') > 0);
    for (const record of records) nodeEvents.ofOthers.changed(record, record);
    nodeEvents.ofOthers.changed(nodeRecordFor({ nodeId: 'n4', holder: OTHER }), undefined);
    await settle(() => store.calls('loads') > 1);
    expect(requested).toEqual([['n1', 'n2', 'n3'], ['n4']]);
  });

  it('has the heartbeat time that its holder reports', () => {
    const { nodeEvents, fleet } = startNodeEvents();
    const record = nodeRecordFor({ nodeId: 'n1', holder: OTHER });
    nodeEvents.ofOthers.changed(record, record);
    nodeEvents.ofOthers.beat('n1', record.view.lastBeatAt + 5_000);
    expect(fleet.table.columns.beatAt[fleet.table.indexOf('n1')]).toBe(record.view.lastBeatAt + 5_000);
  });

  it('enters selection although its load cannot be read', async () => {
    const { nodeEvents, store, fleet, settle } = startNodeEvents();
    store.plan({ method: 'loads', fault: 'throw' });
    nodeEvents.ofOthers.changed(nodeRecordFor({ nodeId: 'n1', holder: OTHER }), undefined);
    await settle(() => store.calls('loads') === 1);
    expect(fleet.has('n1')).toBe(true);
  });

  it('returns, for the engine, only with a new or restored connection', () => {
    const { nodeEvents, toEngine } = startNodeEvents();
    const record = nodeRecordFor({ nodeId: 'n1', holder: OTHER, generation: 1, runningJobIds: ['job-1'] });
    const again = { ...record, generation: 2 };
    nodeEvents.ofOthers.changed(record, undefined);
    nodeEvents.ofOthers.changed({ ...record, version: 2 }, record);
    nodeEvents.ofOthers.changed(again, record);
    nodeEvents.ofOthers.changed(again, { ...again, view: { ...again.view, isConnected: false } });
    expect(toEngine).toEqual(['n1 returned job-1 1', 'n1 returned job-1 2', 'n1 returned job-1 2']);
  });

  it('leaves, for the engine, once per lost connection', () => {
    const { nodeEvents, toEngine } = startNodeEvents();
    const record = nodeRecordFor({ nodeId: 'n1', holder: OTHER });
    const lost = { ...record, view: { ...record.view, isConnected: false } };
    nodeEvents.ofOthers.changed(lost, record);
    nodeEvents.ofOthers.changed({ ...lost, version: 3 }, lost);
    expect(toEngine).toEqual([`n1 left ${GRACE_MS}`]);
    nodeEvents.ofOthers.changed({ ...lost, generation: lost.generation + 1 }, lost);
    expect(toEngine).toHaveLength(2);
  });

  it('leaves, for the engine, if it is first seen disconnected', () => {
    const { nodeEvents, toEngine } = startNodeEvents();
    nodeEvents.ofOthers.changed(
      nodeRecordFor({ nodeId: 'n1', holder: OTHER }, { isConnected: false }),
      undefined,
    );
    expect(toEngine).toEqual([`n1 left ${GRACE_MS}`]);
  });

  it('leaves without grace if it is a legacy node', () => {
    const { nodeEvents, toEngine } = startNodeEvents();
    const record = nodeRecordFor({ nodeId: 'n1', holder: OTHER });
    const view = { ...record.view, profile: { ...record.view.profile, isLegacy: true } };
    nodeEvents.ofOthers.changed({ ...record, view: { ...view, isConnected: false } }, record);
    nodeEvents.ofOthers.removed({ ...record, view });
    expect(toEngine).toEqual(['n1 left 0', 'n1 left 0']);
  });

  it('leaves selection when removed; only socket nodes lose their jobs', () => {
    const { nodeEvents, fleet, toEngine } = startNodeEvents();
    for (const channel of ['socket', 'mailbox', 'endpoint'] as const) {
      const record = nodeRecordFor({ nodeId: channel, holder: OTHER, channel });
      nodeEvents.ofOthers.changed(record, record);
      nodeEvents.ofOthers.removed(record);
      expect(fleet.has(channel)).toBe(false);
    }
    expect(toEngine).toEqual([`socket left ${GRACE_MS}`]);
  });
});

describe('a node of this instance', () => {
  it('is published and enters selection when it changes', () => {
    const { own, registry, kept, here, viewOf } = startNodeEvents();
    registry.set('n1', statusOf('n1', { generation: 7, endpoint: 'http://n1', region: 'eu' }));
    own.changed(viewOf('n1'));
    expect(kept).toMatchObject([{ nodeId: 'n1', generation: 7, endpoint: 'http://n1', region: 'eu' }]);
    expect(kept[0]).not.toHaveProperty('runningJobIds');
    expect(here).toEqual(['n1 changed']);
  });

  it('does not change selection if another instance holds it', () => {
    const { own, registry, state, here, viewOf } = startNodeEvents();
    own.changed(viewOf('n1'));
    registry.set('n1', statusOf('n1'));
    state.isElsewhere = true;
    own.changed(viewOf('n1'));
    own.removed('n1', 1);
    expect(here).toEqual([]);
  });

  it('is published with its running jobs when it connects', () => {
    const { own, registry, kept, here } = startNodeEvents();
    registry.set('n1', statusOf('n1'));
    own.connected('n1', ['job-1']);
    expect(kept).toMatchObject([{ nodeId: 'n1', runningJobIds: ['job-1'] }]);
    expect(here).toEqual(['n1 connected job-1']);
  });

  it('is renewed with each heartbeat and withdrawn with its generation', () => {
    const { own, beats, dropped, here, clock } = startNodeEvents();
    own.loaded('n1', { used: 1, max: 4 });
    own.removed('n1', 7);
    own.disconnected('n1', 2_000);
    expect(beats).toEqual([`n1 ${clock.now()}`]);
    expect(dropped).toEqual(['n1 7']);
    expect(here).toEqual(['n1 loaded 1/4', 'n1 removed 7', 'n1 disconnected 2000']);
  });
});

const NEED = someNeed({ usesTts: false });
const USED = 'semantic,asr,nmt';

describe('what the engine reports about a node', () => {
  it('MODEL_NOT_AVAILABLE: goes to the holder of the node', () => {
    const { nodeEvents, state, hinted } = startNodeEvents();
    state.records.set('n2', nodeRecordFor({ nodeId: 'n2', holder: OTHER }));
    const missing = { serviceId: 'm2m', version: '1', reason: 'not_found' } as const;
    expect(nodeEvents.passOnMissing('n1', missing)).toBe(false);
    expect(nodeEvents.passOnMissing('n2', missing)).toBe(true);
    expect(hinted).toEqual(['other n2 lacks m2m']);
  });

  it('goes to the holder, or to this instance if it is the holder', () => {
    const { knowledge, state, hinted, here } = startNodeEvents();
    state.records.set('n2', nodeRecordFor({ nodeId: 'n2', holder: OTHER }));
    for (const nodeId of ['n1', 'n2']) {
      knowledge.placed(nodeId, NEED);
      knowledge.outcome(nodeId, 'succeeded', NEED);
      knowledge.outcome(nodeId, 'failed', NEED);
    }
    expect(here).toEqual(['n1 placed', 'n1 succeeded', 'n1 failed']);
    expect(hinted).toEqual(['placed', 'succeeded', 'failed'].map((word) => `other n2 ${word} ${USED}`));
  });

  it('counts no failure against a node while the store is unsteady', () => {
    const { knowledge, state, hinted, here } = startNodeEvents();
    state.records.set('n2', nodeRecordFor({ nodeId: 'n2', holder: OTHER }));
    state.isSteady = false;
    for (const nodeId of ['n1', 'n2']) {
      knowledge.outcome(nodeId, 'failed', NEED);
      knowledge.outcome(nodeId, 'succeeded', NEED);
    }
    expect(here).toEqual(['n1 unproven', 'n1 succeeded']);
    expect(hinted).toEqual(['unproven', 'succeeded'].map((word) => `other n2 ${word} ${USED}`));
  });
});

describe('an instance that shuts down', () => {
  it('cordons the connected nodes on its sockets, and no others', async () => {
    const { nodeEvents, own, registry, kept, viewOf } = startNodeEvents();
    registry.set('socket', statusOf('socket'));
    registry.set('away', statusOf('away', { view: viewFor('away', { isConnected: false }) }));
    registry.set('mailbox', statusOf('mailbox', { channel: 'mailbox' }));
    await nodeEvents.withdraw(10_000);
    expect(kept.map(({ nodeId, view }) => [nodeId, view.isCordoned])).toEqual([['socket', true]]);
    own.changed(viewOf('socket'));
    expect(kept.at(-1)?.view.isCordoned).toBe(true);
  });

  it('cordons all its nodes, over several pages', async () => {
    const { nodeEvents, registry, kept } = startNodeEvents();
    for (let at = 0; at < 2_500; at += 1) registry.set(`n${at}`, statusOf(`n${at}`));
    await nodeEvents.withdraw(10_000);
    expect(new Set(kept.map(({ nodeId }) => nodeId)).size).toBe(2_500);
  });

  it('waits for the jobs on its nodes, up to its limit', async () => {
    const { nodeEvents, registry, fleet, ledger, clock, viewOf } = startNodeEvents();
    registry.set('n1', statusOf('n1'));
    fleet.upsert(viewOf('n1'));
    await ledger.declare('n1', { slots: 4, isAccepting: true });
    await ledger.reserve('n1', 'job:1', 600_000);
    fleet.setLoad('n1', { used: 1, max: 4 });
    let ended = 0;
    void nodeEvents.withdraw(10_000).then(() => {
      ended += 1;
    });
    await clock.advance(5_000);
    expect(ended).toBe(0);
    await ledger.release('n1', 'job:1');
    await clock.advance(200);
    expect(ended).toBe(1);
    await ledger.reserve('n1', 'job:2', 600_000);
    fleet.setLoad('n1', { used: 1, max: 4 });
    void nodeEvents.withdraw(10_000).then(() => {
      ended += 1;
    });
    await clock.advance(9_900);
    expect(ended).toBe(1);
    await clock.advance(200);
    expect([ended, clock.pending()]).toEqual([2, 0]);
  });
});
