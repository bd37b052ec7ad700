/** What happens to nodes here and elsewhere reaches selection, the engine, and whoever holds the node. */
import { describe, expect, it } from 'vitest';
import { sheetFor } from '../../contracts/node-sheets.ts';
import { someNeed } from '../../runtime/fleet/fleet-fixture.ts';
import { GRACE_MS, startNews, statusOf } from './node-events-rig.ts';

const OTHER = { instanceId: 'other', incarnation: 'other-1' };

describe('a node of another instance', () => {
  it('is seen by selection as its holder posts it, with the load that the ledger knows', async () => {
    const { news, fleet, ledger, settle } = startNews();
    await ledger.declare('n1', { slots: 4, isAccepting: true });
    await ledger.reserve('n1', 'job:1', 5_000);
    const record = sheetFor({ nodeId: 'n1', holder: OTHER });
    news.ofOthers.changed(record, undefined);
    await settle(() => fleet.load('n1')?.used === 1);
    expect(fleet.view('n1')).toEqual(record.view);
    news.ofOthers.changed({ ...record, view: { ...record.view, isCordoned: true } }, record);
    expect(fleet.view('n1')?.isCordoned).toBe(true);
  });

  it('is weighed once, together with all that came at the same time', async () => {
    const { news, store, asked, settle } = startNews();
    const records = ['n1', 'n2', 'n3'].map((nodeId) => sheetFor({ nodeId, holder: OTHER }));
    for (const record of records) news.ofOthers.changed(record, undefined);
    for (const record of records) news.ofOthers.changed(record, record);
    await settle(() => store.calls('loads') > 0);
    for (const record of records) news.ofOthers.changed(record, record);
    news.ofOthers.changed(sheetFor({ nodeId: 'n4', holder: OTHER }), undefined);
    await settle(() => store.calls('loads') > 1);
    expect(asked).toEqual([['n1', 'n2', 'n3'], ['n4']]);
  });

  it('is as fresh as its holder heard of it', () => {
    const { news, fleet } = startNews();
    const record = sheetFor({ nodeId: 'n1', holder: OTHER });
    news.ofOthers.changed(record, record);
    news.ofOthers.beat('n1', record.view.lastBeatAt + 5_000);
    expect(fleet.table.columns.beatAt[fleet.table.indexOf('n1')]).toBe(record.view.lastBeatAt + 5_000);
  });

  it('is seen although the ledger cannot say how full it is', async () => {
    const { news, store, fleet, settle } = startNews();
    store.plan({ method: 'loads', fault: 'throw' });
    news.ofOthers.changed(sheetFor({ nodeId: 'n1', holder: OTHER }), undefined);
    await settle(() => store.calls('loads') === 1);
    expect(fleet.has('n1')).toBe(true);
  });

  it('has come back, for the engine, with a new connection or after a lost one, and with nothing else', () => {
    const { news, told } = startNews();
    const record = sheetFor({ nodeId: 'n1', holder: OTHER, generation: 1, runningJobIds: ['job-1'] });
    const again = { ...record, generation: 2 };
    news.ofOthers.changed(record, undefined);
    news.ofOthers.changed({ ...record, version: 2 }, record);
    news.ofOthers.changed(again, record);
    news.ofOthers.changed(again, { ...again, isConnected: false });
    expect(told).toEqual(['n1 returned job-1 1', 'n1 returned job-1 2', 'n1 returned job-1 2']);
  });

  it('has left, for the engine, when its connection is lost: once, however often its node record changes then', () => {
    const { news, told } = startNews();
    const record = sheetFor({ nodeId: 'n1', holder: OTHER });
    const lost = { ...record, isConnected: false };
    news.ofOthers.changed(lost, record);
    news.ofOthers.changed({ ...lost, version: 3 }, lost);
    expect(told).toEqual([`n1 left ${GRACE_MS}`]);
    news.ofOthers.changed({ ...lost, generation: lost.generation + 1 }, lost);
    expect(told).toHaveLength(2);
  });

  it('has left if it is first seen without its connection', () => {
    const { news, told } = startNews();
    news.ofOthers.changed(sheetFor({ nodeId: 'n1', holder: OTHER, isConnected: false }), undefined);
    expect(told).toEqual([`n1 left ${GRACE_MS}`]);
  });

  it('has no grace if it is legacy one, which does not come back in time', () => {
    const { news, told } = startNews();
    const record = sheetFor({ nodeId: 'n1', holder: OTHER });
    const view = { ...record.view, profile: { ...record.view.profile, isLegacy: true } };
    news.ofOthers.changed({ ...record, view, isConnected: false }, record);
    news.ofOthers.removed({ ...record, view });
    expect(told).toEqual(['n1 left 0', 'n1 left 0']);
  });

  it('is taken off selection when it is removed, and its jobs are retried if it had a connection to lose', () => {
    const { news, fleet, told } = startNews();
    for (const channel of ['socket', 'mailbox', 'endpoint'] as const) {
      const record = sheetFor({ nodeId: channel, holder: OTHER, channel });
      news.ofOthers.changed(record, record);
      news.ofOthers.removed(record);
      expect(fleet.has(channel)).toBe(false);
    }
    expect(told).toEqual([`socket left ${GRACE_MS}`]);
  });
});

describe('a node of this instance', () => {
  it('is told to the others and to selection when it changes', () => {
    const { own, registry, kept, here, viewOf } = startNews();
    registry.set('n1', statusOf('n1', { generation: 7, endpoint: 'http://n1', region: 'eu' }));
    own.changed(viewOf('n1'));
    expect(kept).toMatchObject([{ nodeId: 'n1', generation: 7, endpoint: 'http://n1', region: 'eu' }]);
    expect(kept[0]).not.toHaveProperty('runningJobIds');
    expect(here).toEqual(['n1 changed']);
  });

  it('is left to its holder’s view if it lives elsewhere by now, or is not known here', () => {
    const { own, registry, state, here, viewOf } = startNews();
    own.changed(viewOf('n1'));
    registry.set('n1', statusOf('n1'));
    state.isElsewhere = true;
    own.changed(viewOf('n1'));
    own.removed('n1', 1);
    expect(here).toEqual([]);
  });

  it('is told with what it still runs when it connects', () => {
    const { own, registry, kept, here } = startNews();
    registry.set('n1', statusOf('n1'));
    own.connected('n1', ['job-1']);
    expect(kept).toMatchObject([{ nodeId: 'n1', runningJobIds: ['job-1'] }]);
    expect(here).toEqual(['n1 connected job-1']);
  });

  it('is seen by the others with each heartbeat, and taken off with its generation', () => {
    const { own, beats, dropped, here, clock } = startNews();
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

describe('what the engine says of a node', () => {
  it('MODEL_NOT_AVAILABLE: is passed on to whoever holds the node', () => {
    const { news, state, whispered } = startNews();
    state.records.set('n2', sheetFor({ nodeId: 'n2', holder: OTHER }));
    const missing = { serviceId: 'm2m', version: '1', reason: 'not_found' } as const;
    expect(news.passOnMissing('n1', missing)).toBe(false);
    expect(news.passOnMissing('n2', missing)).toBe(true);
    expect(whispered).toEqual(['other n2 lacks m2m']);
  });

  it('is told to its holder, or here if that is this instance', () => {
    const { knowledge, state, whispered, here } = startNews();
    state.records.set('n2', sheetFor({ nodeId: 'n2', holder: OTHER }));
    for (const nodeId of ['n1', 'n2']) {
      knowledge.placed(nodeId, NEED);
      knowledge.outcome(nodeId, 'succeeded', NEED);
      knowledge.outcome(nodeId, 'failed', NEED);
    }
    expect(here).toEqual(['n1 placed', 'n1 succeeded', 'n1 failed']);
    expect(whispered).toEqual(['placed', 'succeeded', 'failed'].map((word) => `other n2 ${word} ${USED}`));
  });

  it('blames no node while the store is not steady', () => {
    const { knowledge, state, whispered, here } = startNews();
    state.records.set('n2', sheetFor({ nodeId: 'n2', holder: OTHER }));
    state.isSteady = false;
    for (const nodeId of ['n1', 'n2']) {
      knowledge.outcome(nodeId, 'failed', NEED);
      knowledge.outcome(nodeId, 'succeeded', NEED);
    }
    expect(here).toEqual(['n1 unproven', 'n1 succeeded']);
    expect(whispered).toEqual(['unproven', 'succeeded'].map((word) => `other n2 ${word} ${USED}`));
  });
});

describe('an instance that is about to end', () => {
  it('keeps others’ jobs away from the nodes on its sockets, now and later, and from no others', async () => {
    const { news, own, registry, kept, viewOf } = startNews();
    registry.set('socket', statusOf('socket'));
    registry.set('away', statusOf('away', { isConnected: false }));
    registry.set('mailbox', statusOf('mailbox', { channel: 'mailbox' }));
    await news.withdraw(10_000);
    expect(kept.map(({ nodeId, view }) => [nodeId, view.isCordoned])).toEqual([['socket', true]]);
    own.changed(viewOf('socket'));
    expect(kept.at(-1)?.view.isCordoned).toBe(true);
  });

  it('finds all its nodes, however many pages they are', async () => {
    const { news, registry, kept } = startNews();
    for (let at = 0; at < 2_500; at += 1) registry.set(`n${at}`, statusOf(`n${at}`));
    await news.withdraw(10_000);
    expect(new Set(kept.map(({ nodeId }) => nodeId)).size).toBe(2_500);
  });

  it('waits until none of them works any more, by the ledger’s word, and no longer than it may', async () => {
    const { news, registry, fleet, ledger, clock, viewOf } = startNews();
    registry.set('n1', statusOf('n1'));
    fleet.upsert(viewOf('n1'));
    await ledger.declare('n1', { slots: 4, isAccepting: true });
    await ledger.reserve('n1', 'job:1', 600_000);
    fleet.setLoad('n1', { used: 1, max: 4 });
    let ended = 0;
    void news.withdraw(10_000).then(() => {
      ended += 1;
    });
    await clock.advance(5_000);
    expect(ended).toBe(0);
    await ledger.release('n1', 'job:1');
    await clock.advance(200);
    expect(ended).toBe(1);
    await ledger.reserve('n1', 'job:2', 600_000);
    fleet.setLoad('n1', { used: 1, max: 4 });
    void news.withdraw(10_000).then(() => {
      ended += 1;
    });
    await clock.advance(9_900);
    expect(ended).toBe(1);
    await clock.advance(200);
    expect([ended, clock.pending()]).toEqual([2, 0]);
  });
});
