/** Point 11: a refusal names the first stage that leaves no node: can, may, ready, room. */
import { describe, expect, it } from 'vitest';
import { ERRORS, errorEntry } from '../../../src/domain/errors.ts';
import type { Need, Rejection } from '../../../src/domain/need.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import { CAUSES } from '../../../src/runtime/dispatch/causes.ts';
import { refusal } from '../../../src/runtime/dispatch/refusal.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed } from '../../../src/runtime/select/compile-need.ts';
import { toErrorReply } from '../../../src/transport/wire/error-reply.ts';
import { anyProfile, nodeView, someNeed } from '../fleet/fleet-fixture.ts';
import { dividedFleet, having, planOf, pool } from '../pools/pool-fixture.ts';
import { createRig, need, profile, RESULT } from '../rigs/rig.ts';

const NO_EXCLUSIONS: ReadonlySet<string> = new Set();
const NO = 'NO_CAPABLE_NODE';
const ALL = 'ALL_CANDIDATES_FULL_OR_FAILED';

function refused(views: readonly NodeView[], part: Partial<Need> = {}) {
  const fleet = createFleetView();
  for (const view of views) fleet.upsert(view);
  return refusal(fleet, compileNeed(fleet, someNeed(part)), NO_EXCLUSIONS);
}

const lacking = (part: Partial<typeof anyProfile>) => ({ profile: { ...anyProfile, ...part } });

describe('the cause of a refusal', () => {
  it('no hint refers to reasons, which the ui_event of a session does not carry', () => {
    const hints = [...Object.values(ERRORS), ...Object.values(CAUSES)].flatMap(({ hint }) => hint ?? []);
    expect(hints.filter((hint) => hint.includes('reasons'))).toEqual([]);
  });

  it('a refusal carries the judged reason, not the first one', async () => {
    const rig = createRig();
    await rig.addNode('node-full', 1);
    await rig.addNode('node-other', 1, profile({ asr: ['de'] }));
    await rig.dispatch();
    const outcome = await rig.service.dispatch(rig.request());
    expect(outcome).toMatchObject({ kind: 'refused', mainReason: 'capacity_exceeded' });
  });

  it.each<[Rejection, string, RegExp, Partial<NodeView>, Partial<Need>]>([
    ['asr_lang_unsupported', NO, /without speech recognition \(asr\) of en/, lacking({ asr: ['de'] }), {}],
    ['semantic_lang_unsupported', NO, /without semantic repair of en/, lacking({ semantic: ['de'] }), {}],
    [
      'lang_pair_unsupported',
      NO,
      /without translation \(nmt\) en->zh/,
      lacking({ nmt: { sources: [], targets: [], pairs: [], blocked: [] } }),
      {},
    ],
    ['tts_lang_unsupported', NO, /without speech synthesis \(tts\) of zh/, lacking({ tts: ['de'] }), {}],
    ['service_not_installed', NO, /without one of the services .*voice-9/, {}, { services: ['voice-9'] }],
    ['feature_unsupported', NO, /features emotion_detection/, {}, { features: ['emotion_detection'] }],
    ['audio_ref_unsupported', ALL, /not able to fetch audio by reference/, {}, { isAudioByReference: true }],
    [
      'not_in_public_pool',
      ALL,
      /private to another tenant/,
      lacking({ privateTo: 'other' }),
      { needsPublicNode: true },
    ],
    ['disconnected', ALL, /is disconnected/, { isConnected: false, health: 'offline' }, {}],
    ['offline', ALL, /is offline/, { health: 'offline' }, {}],
    ['status_not_ready', ALL, /is not ready/, { health: 'degraded' }, {}],
    ['stale_heartbeat', ALL, /overdue with the heartbeat/, { isFresh: false }, {}],
    ['cordoned', ALL, /cordoned by an operator/, { isCordoned: true }, {}],
    ['ejected', ALL, /ejected for failing too often/, { isEjected: true }, {}],
    ['model_not_available', ALL, /without a required model/, { markedTypes: ['nmt'] }, {}],
    ['resource_threshold_exceeded', ALL, /above its threshold/, { isCalm: false }, {}],
    ['capacity_exceeded', ALL, /could take it, but is full/, { slots: 0 }, {}],
  ])('%s has the code %s and its own sentence', (reason, code, sentence, node, part) => {
    const answer = refused([nodeView('a', node)], part);
    expect(answer).toMatchObject({ code, mainReason: reason });
    expect(answer.message).toMatch(sentence);
    expect(answer.message).toContain('1 of 1 registered node');
  });

  it.each([
    ['english', '"english" does not look like a language code: language codes look like en, zh-CN.'],
    ['xx', undefined],
    ['yue-hant', undefined],
  ])('has a hint about language codes if a language looks wrong: %s', (target, hint) => {
    const answer = refused([nodeView('a', lacking({ tts: ['de'] }))], {
      directions: [{ source: 'en', target }],
    });
    expect(answer).toMatchObject({ code: NO, mainReason: 'tts_lang_unsupported', hint });
  });

  it('is that no node is registered', () => {
    expect(refused([])).toMatchObject({
      code: NO,
      mainReason: 'no_nodes',
      message: 'No node is registered.',
    });
  });

  it('is what excluded the nodes that came furthest, however many lack a language', () => {
    const deaf = Array.from({ length: 5 }, (_, n) => nodeView(`deaf-${n}`, lacking({ asr: ['de'] })));
    const legacy = nodeView('legacy', { isCordoned: true });
    const byReference = refused([...deaf, legacy], { isAudioByReference: true });
    expect(byReference).toMatchObject({ code: ALL, mainReason: 'audio_ref_unsupported' });
    expect(byReference.hint).toContain('Send the audio itself');
    expect(refused([...deaf, legacy])).toMatchObject({
      code: ALL,
      mainReason: 'cordoned',
      cause: { count: 1, sampleNodeIds: ['legacy'] },
    });
    expect(refused([...deaf, legacy, nodeView('busy', { slots: 0 })]).message).toBe(
      'No node is free for semantic(en) + nmt(en->zh) + tts(zh): 1 of 7 registered nodes could take it, but is full.',
    );
  });

  it('is the most frequent reason of the last stage, not the last one in the table', () => {
    const registering = Array.from({ length: 9 }, (_, n) => nodeView(`new-${n}`, { health: 'registering' }));
    const answer = refused([...registering, nodeView('cordoned', { isCordoned: true })]);
    expect(answer).toMatchObject({ code: ALL, mainReason: 'status_not_ready', cause: { count: 9 } });
    expect(answer.message).toContain('9 of 10 registered nodes could take it, but are not ready');
    expect(answer.hint).not.toContain('Uncordon');
  });

  it('is the ability that the closest nodes lack, however many lack more', () => {
    const deaf = Array.from({ length: 9 }, (_, n) => nodeView(`deaf-${n}`, lacking({ asr: ['de'] })));
    const answer = refused([...deaf, nodeView('mute', lacking({ tts: ['de'] }))]);
    expect(answer).toMatchObject({ code: NO, mainReason: 'tts_lang_unsupported' });
    expect(answer.message).toContain('the closest 1 of 10 registered nodes is without speech synthesis');
  });

  it('is the pool, not the ability, if the able nodes are in another pool', () => {
    const tenantPools = new Map([['acme', 2]]);
    const plan = planOf([pool(1, ['x']), pool(2, ['y'])], { isStrict: true, tenantPools });
    const fleet = dividedFleet(plan, nodeView('n1', { profile: having('x') }), nodeView('n2'));
    const answer = refusal(fleet, compileNeed(fleet, someNeed({ tenantId: 'acme' })), NO_EXCLUSIONS);
    expect(answer).toMatchObject({ code: ALL, mainReason: 'not_in_pool', isWaitUseful: false });
    expect(answer.message).toContain('in pool 2 (p2), to which tenant acme is bound');
    expect(answer.message).toContain('2 of 2 registered nodes could otherwise');
  });

  it('is counted as the reason of scheduler_no_available_node_total', async () => {
    const rig = createRig();
    for (let n = 0; n < 3; n += 1) await rig.addNode(`deaf-${n}`, 1, profile({ semantic: ['de'] }));
    await rig.addNode('busy', 1);
    await rig.dispatch();
    rig.refusal(await rig.service.dispatch(rig.request()));
    expect(rig.counts.get('scheduler_no_available_node_total{types,capacity_exceeded}')).toBe(1);
  });

  it('has a hint of its own wherever a retry alone does not help', () => {
    for (const reason of ['audio_ref_unsupported', 'not_in_public_pool', 'not_in_pool', 'cordoned'] as const)
      expect(CAUSES[reason].hint).toBeDefined();
  });
});

describe('a strict preferred node', () => {
  const strict = (preferredNodeId: string) => need({ preferredNodeId, isStrict: true });

  it('that is full says so, and the job may wait for it', async () => {
    const rig = createRig();
    await rig.addNode('a');
    await rig.addNode('b');
    const running = await rig.dispatch({ need: strict('a') });
    const { code, message, reasons } = rig.refusal(
      await rig.service.dispatch(rig.request({ need: strict('a') })),
    );
    expect(code).toBe(ALL);
    expect(message).toBe('node a is full, and options.strict forbids another');
    expect(reasons).toEqual([{ reason: 'capacity_exceeded', count: 1, sampleNodeIds: ['a'] }]);
    const waiting = rig.dispatch({ need: strict('a'), waitMs: 5_000 });
    await rig.clock.advance(1_000);
    await rig.service.finish(rig.last(running.jobId), RESULT);
    expect((await waiting).fence?.nodeId).toBe('a');
  });

  it('that lacks a language or is unknown is PREFERRED_NODE_NOT_CAPABLE', async () => {
    const rig = createRig();
    await rig.addNode('deaf', 1, profile({ asr: ['de'] }));
    await rig.addNode('b');
    const ask = async (nodeId: string) =>
      rig.refusal(await rig.service.dispatch(rig.request({ need: strict(nodeId), waitMs: 5_000 })));
    expect(await ask('deaf')).toMatchObject({
      code: 'PREFERRED_NODE_NOT_CAPABLE',
      message: expect.stringContaining('without speech recognition (asr) of en'),
    });
    expect(await ask('ghost')).toMatchObject({
      code: 'PREFERRED_NODE_NOT_CAPABLE',
      message: expect.stringContaining('node ghost is not registered'),
    });
  });
});

describe('a node that is private to another tenant', () => {
  async function withPrivateNode(kind: Parameters<typeof profile>[0] = {}) {
    const rig = createRig();
    await rig.addNode('acme-gpu', 1, profile({ privateTo: 'acme', ...kind }));
    const asBeta = async (part: Partial<Need> = {}) => {
      const request = rig.request({ need: need({ tenantId: 'beta', needsPublicNode: true, ...part }) });
      return rig.refusal(await rig.service.dispatch(request));
    };
    return { rig, asBeta };
  }

  it.each<[Rejection, Parameters<typeof profile>[0]]>([
    ['not_in_public_pool', {}],
    ['asr_lang_unsupported', { asr: ['de'] }],
  ])('is counted under %s, but its id is not in the refusal', async (reason, kind) => {
    const { rig, asBeta } = await withPrivateNode(kind);
    await rig.addNode('public', 1, profile({ asr: ['de'] }));
    const refused = await asBeta();
    expect(refused.reasons?.map((each) => each.reason)).toContain(reason);
    expect(refused.reasons?.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(refused.reasons?.flatMap(({ sampleNodeIds }) => sampleNodeIds)).toEqual(['public']);
    expect(JSON.stringify(refused)).not.toContain('acme-gpu');
  });

  it('is not registered for a strict request, like a node that does not exist', async () => {
    const { rig, asBeta } = await withPrivateNode();
    await rig.addNode('public');
    const ask = (preferredNodeId: string) => asBeta({ preferredNodeId, isStrict: true });
    const { message, ...rest } = await ask('acme-gpu');
    expect(message).toBe('node acme-gpu is not registered, and options.strict forbids another');
    const { message: _, ...ofUnknown } = await ask('ghost');
    expect(rest).toEqual(ofUnknown);
  });
});

describe('a node that is not registered', () => {
  it('is counted under a reason of its own if the request is strict', async () => {
    const rig = createRig();
    await rig.addNode('a');
    await rig.service.dispatch(rig.request({ need: need({ preferredNodeId: 'ghost', isStrict: true }) }));
    expect(rig.counts.get('scheduler_no_available_node_total{types,not_registered}')).toBe(1);
    expect(rig.counts.get('scheduler_no_available_node_total{types,no_nodes}')).toBeUndefined();
  });

  it('is logged as not registered if the job went to another node', async () => {
    const rig = createRig();
    await rig.addNode('a');
    await rig.dispatch({ need: need({ preferredNodeId: 'ghost' }) });
    const fallback = rig.lines.find(({ message }) => message === 'a job did not get its preferred node');
    expect(fallback).toMatchObject({ reason: 'not_registered', preferred_node_id: 'ghost' });
  });
});

describe('retry_after_ms', () => {
  it('is the remaining time of a mark', async () => {
    const rig = createRig();
    await rig.addNode('a');
    const known = rig.fleet.view('a') as NodeView;
    rig.fleet.upsert({ ...known, markedTypes: ['nmt'], marksEndAt: [rig.clock.now() + 42_000] });
    const ask = async () => rig.refusal(await rig.service.dispatch(rig.request())).retryAfterMs;
    expect(await ask()).toBe(42_000);
    await rig.clock.advance(2_000);
    expect(await ask()).toBe(40_000);
  });

  it('ignores marks of services that the job does not need', async () => {
    const rig = createRig();
    const now = rig.clock.now();
    await rig.addNode('a');
    const marksEndAt = [5, 7, 6, 42, 30].map((seconds) => now + seconds * 1_000);
    rig.fleet.upsert({
      ...(rig.fleet.view('a') as NodeView),
      markedServices: ['piper', 'voice-9'],
      markedTypes: ['tone', 'nmt', 'asr'],
      marksEndAt,
    });
    const ask = async (part: Partial<Need>) =>
      rig.refusal(await rig.service.dispatch(rig.request({ need: need(part) }))).retryAfterMs;
    expect(await ask({})).toBe(42_000);
    expect(await ask({ usesNmt: false })).toBe(30_000);
    // A model that is not ready, although another service is marked.
    await rig.addNode('a', 1, profile({ readyTypes: ['semantic', 'asr'] }));
    rig.fleet.upsert({
      ...(rig.fleet.view('a') as NodeView),
      markedTypes: ['tone'],
      marksEndAt: [now + 5_000],
    });
    expect(await ask({})).toBeUndefined();
  });

  it('is absent if all nodes that could take the job are cordoned', async () => {
    const rig = createRig();
    await rig.addNode('deaf', 1, profile({ asr: ['de'] }));
    for (const nodeId of ['a', 'b', 'c']) {
      await rig.addNode(nodeId);
      rig.fleet.upsert({ ...(rig.fleet.view(nodeId) as NodeView), isCordoned: true });
    }
    const ask = async () => {
      const { code, message, hint, retryAfterMs } = rig.refusal(await rig.service.dispatch(rig.request()));
      return toErrorReply({ code, detail: message, hint, retryAfterMs }).body;
    };
    expect(await ask()).not.toHaveProperty('retry_after_ms');
    expect((await ask()).hint).toBe(CAUSES.cordoned.hint);
    await rig.addNode('starting');
    rig.fleet.upsert({ ...(rig.fleet.view('starting') as NodeView), health: 'registering' });
    expect((await ask()).retry_after_ms).toBeGreaterThan(0);
  });

  it('is the expected wait for a slot: how long jobs take, the slots, and the jobs that wait', async () => {
    const rig = createRig();
    await rig.addNode('a', 2);
    const first = await rig.dispatch();
    await rig.clock.advance(6_000);
    await rig.service.finish(rig.last(first.jobId), RESULT);
    await rig.dispatch();
    await rig.dispatch();
    const ask = async () => rig.refusal(await rig.service.dispatch(rig.request())).retryAfterMs;
    expect(await ask()).toBe(3_000);
    const waiting = rig.service.dispatch(rig.request({ waitMs: 1_000 }));
    await rig.clock.advance(1);
    expect(await ask()).toBe(6_000);
    await rig.clock.advance(2_000);
    await waiting;
  });

  it('is absent if a retry alone does not help', async () => {
    const rig = createRig();
    await rig.addNode('a', 1, profile({ supports: [] }));
    const request = rig.request({ need: need({ isAudioByReference: true }) });
    const { code, message, hint, retryAfterMs } = rig.refusal(await rig.service.dispatch(request));
    const reply = toErrorReply({ code, detail: message, hint, retryAfterMs });
    expect(reply.body).not.toHaveProperty('retry_after_ms');
    expect(reply.headers).not.toHaveProperty('retry-after');
    expect(reply.body.hint).toBe(CAUSES.audio_ref_unsupported.hint);
    expect(errorEntry(code).isTransient).toBe(true);
  });
});
