/** How much nodes may declare: of one node, of one credential, of the fleet. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, bytesOfProfile, NODE_BYTES } from '../../src/domain/declared-bytes.ts';
import { ANY } from '../../src/domain/language.ts';
import { type NodeProfile, nmtProduct } from '../../src/domain/profile.ts';
import { createDeclarationBudget } from '../../src/management/registration/declaration-budget.ts';
import { aRegistration, createFixture, LIMITS, READY_REPORT, SDK_TRAITS } from './registry-fixture.ts';

const words = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${at}`);

/** A node with its own made-up languages, about a quarter of a megabyte. */
const madeUp = (nodeId: string, credential = 'alice') => {
  const languages = words(nodeId, 200);
  return aRegistration({
    nodeId,
    credential,
    report: {
      ...READY_REPORT,
      languages: {
        asr: languages,
        tts: languages,
        semantic: languages,
        translations: [{ languages, rule: 'any_to_any', blockedPairs: [], supportedPairs: [] }],
      },
    },
  });
};
const limited = (limits: Partial<typeof LIMITS>) => createFixture({}, undefined, limits);
const MB = 1_000_000;

describe('the declarations of nodes', () => {
  it('of 200 languages any to any fit into the limit of one node many times', async () => {
    const { registry, budget } = limited({});
    expect(await registry.register(madeUp('node-1'))).toMatchObject({ kind: 'registered' });
    expect(budget.bytes()).toBeLessThan(0.5 * MB);
  });

  it('of one node have a limit that the refusal names', async () => {
    const { registry } = limited({ nodeBytes: 100_000 });
    const outcome = await registry.register(madeUp('node-1'));
    expect(outcome).toMatchObject({ kind: 'refused', code: 'INVALID_MESSAGE' });
    expect(outcome).toHaveProperty('message', expect.stringContaining('max_node_bytes'));
  });

  it('of one credential end at its share, and other credentials still register', async () => {
    const { registry, counts } = limited({ credentialBytes: MB, fleetBytes: 2 * MB });
    const outcomes = [];
    for (const name of words('evil', 10)) outcomes.push(await registry.register(madeUp(name)));
    const refused = outcomes.filter(({ kind }) => kind === 'refused');
    expect(refused.length).toBeGreaterThan(5);
    expect(refused[0]).toMatchObject({ code: 'RATE_LIMITED' });
    expect(refused[0]).toHaveProperty('message', expect.stringContaining('max_credential_percent'));
    expect(counts.get('scheduler_declarations_refused_total credential')).toBe(refused.length);
    expect(await registry.register(madeUp('honest', 'bob'))).toMatchObject({ kind: 'registered' });
  });

  it('of the fleet end at the limit, whatever credential asks', async () => {
    const { registry, budget } = limited({ credentialBytes: MB, fleetBytes: MB });
    for (const name of words('evil', 10)) await registry.register(madeUp(name, name));
    expect(budget.bytes()).toBeLessThanOrEqual(MB);
    const outcome = await registry.register(madeUp('late', 'bob'));
    expect(outcome).toMatchObject({ kind: 'refused', code: 'RATE_LIMITED' });
    expect(outcome).toHaveProperty('message', expect.stringContaining('max_bytes'));
  });

  it('that are equal count once', async () => {
    const { registry, budget } = limited({ credentialBytes: MB });
    for (const nodeId of words('node', 200)) {
      expect(await registry.register({ ...madeUp('same'), nodeId })).toMatchObject({ kind: 'registered' });
    }
    expect(budget.bytes()).toBeLessThan(1.2 * MB);
  });

  it('of a removed node make room', async () => {
    const { registry, budget, clock } = limited({ credentialBytes: 0.5 * MB });
    await registry.register(madeUp('first'));
    expect(await registry.register(madeUp('second'))).toMatchObject({ kind: 'refused' });
    await registry.control('first', 'remove');
    await clock.advance(30_000);
    expect(budget.bytes()).toBe(0);
    expect(await registry.register(madeUp('second'))).toMatchObject({ kind: 'registered' });
  });

  it('that are refused leave no node, no claim and no slots', async () => {
    const { registry, ledger, nodeIdClaims, budget } = limited({ nodeBytes: 100_000 });
    await registry.register(madeUp('node-1'));
    expect(registry.get('node-1')).toBeUndefined();
    expect(await ledger.loads(['node-1'])).toEqual(new Map());
    expect(await nodeIdClaims.claim('node-1', 'bob')).toMatchObject({ kind: 'claimed' });
    expect(budget.bytes()).toBe(0);
  });

  it('of a credential are limited in nodes, and a known node may return', async () => {
    const { registry } = limited({ credentialNodes: 2 });
    const register = (nodeId: string, credential = 'alice') =>
      registry.register(aRegistration({ nodeId, credential }));
    await register('node-1');
    await register('node-2');
    const refused = await register('node-3');
    expect(refused).toMatchObject({ kind: 'refused', code: 'RATE_LIMITED' });
    expect(refused).toHaveProperty('message', expect.stringContaining('scheduler.max_nodes'));
    expect(await register('node-2')).toMatchObject({ kind: 'registered' });
    expect(await register('node-4', 'bob')).toMatchObject({ kind: 'registered' });
  });

  it('in a heartbeat beyond the limit change nothing, and the heartbeat counts', async () => {
    const { readyNode, beat, view, counts, budget } = limited({ nodeBytes: 100_000 });
    const { generation } = await readyNode({ traits: SDK_TRAITS });
    const before = { profile: view('node-1')?.profile, bytes: budget.bytes() };
    const model = { kind: 'asr', isEnabled: true };
    const models = words('x'.repeat(200), 1_000).map((modelId) => ({ ...model, modelId }));
    for (const report of [{ models }, madeUp('node-1').report]) {
      expect(await beat({ generation, report })).toMatchObject({ kind: 'beat' });
    }
    expect(view('node-1')?.profile).toBe(before.profile);
    expect(budget.bytes()).toBe(before.bytes);
    expect(counts.get('scheduler_declarations_refused_total node')).toBe(2);
  });

  it('in a heartbeat replace those of the registration', async () => {
    const { registry, beat, budget } = limited({ credentialBytes: 0.5 * MB });
    const outcome = await registry.register(madeUp('node-1'));
    const before = budget.bytes();
    if (outcome.kind !== 'registered') throw new Error(outcome.message);
    await beat({ generation: outcome.generation, report: READY_REPORT });
    expect(budget.bytes()).toBeLessThan(before / 4);
    expect(await registry.register(madeUp('node-2'))).toMatchObject({ kind: 'registered' });
  });
});

const profile = (languages: readonly string[]): NodeProfile => ({
  installedTypes: ANY,
  readyTypes: ANY,
  installedServices: [],
  readyServices: [],
  asr: languages,
  semantic: languages,
  tts: languages,
  nmt: nmtProduct(languages, languages),
  features: [],
  hasGpu: true,
  supports: [],
  isLegacy: false,
});
const PROFILES = [5, 20, 50].map((count) => profile(words('lang', count)));
const PARTS = [words('model', 10), words('model', 30)];

const step = fc.record({
  nodeId: fc.constantFrom('a', 'b', 'c', 'd'),
  credential: fc.constantFrom('alice', 'bob'),
  profile: fc.constantFrom(...PROFILES),
  part: fc.constantFrom(undefined, ...PARTS),
  side: fc.constantFrom('own' as const, 'others' as const),
  isDrop: fc.boolean(),
});

describe('the budget of declarations', () => {
  it('counts every object of the declared nodes once, and never exceeds its limits', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const limits = { ...LIMITS, credentialBytes: 90_000, fleetBytes: 120_000 };
        const budget = createDeclarationBudget({ limits, meter: { count() {} } });
        const declared = new Map<string, (typeof steps)[number]>();
        for (const each of steps) {
          const { nodeId, credential, profile, part, side, isDrop } = each;
          if (isDrop) {
            budget[side].drop(nodeId);
            if (declared.get(nodeId)?.side === side) declared.delete(nodeId);
          } else if (budget[side].declare(nodeId, { credential, profile, parts: [part] }) === undefined) {
            declared.set(nodeId, each);
          }
          const bytesFor = (nodes: readonly (typeof steps)[number][]): number => {
            const profiles = new Set(nodes.map((node) => node.profile));
            const parts = new Set(nodes.map((node) => node.part).filter((found) => found !== undefined));
            const sum = [...profiles].reduce((total, found) => total + bytesOfProfile(found), 0);
            return (
              [...parts].reduce((total, found) => total + bytesOf(found), sum) + nodes.length * NODE_BYTES
            );
          };
          const all = [...declared.values()];
          expect(budget.bytes()).toBe(bytesFor(all));
          expect(budget.bytes()).toBeLessThanOrEqual(limits.fleetBytes);
          for (const name of ['alice', 'bob']) {
            const own = bytesFor(all.filter((node) => node.credential === name));
            expect(own).toBeLessThanOrEqual(limits.credentialBytes);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
