/** Point 2, explain: the decision that would be made now. Reading it changes nothing, and dispatch does not import it. */
import { describe, expect, it } from 'vitest';
import { equalTenancy } from '../../../src/domain/tenancy.ts';
import { createPoolMap } from '../../../src/runtime/pools/pool-map.ts';
import { filesUnder, importsOf, resolveImport } from '../../architecture/source-files.ts';
import { planOf, pool } from '../pools/pool-fixture.ts';
import { createRig, need, profile } from '../rigs/rig.ts';

const question = (part = {}) => ({ need: need(), waitMs: 0, ...part });

describe('a decision', () => {
  it('is dispatch, with a candidate, while a node could take the job', async () => {
    const { service, addNode } = createRig();
    await addNode('n1');
    await addNode('deaf', 1, profile({ semantic: ['de'] }));
    expect(service.explain(question({ nodeId: 'n1' }))).toEqual({
      kind: 'dispatch',
      candidateNodeId: 'n1',
      refusal: undefined,
      total: 2,
      eligible: 1,
      reasons: [{ reason: 'semantic_lang_unsupported', count: 1, sampleNodeIds: ['deaf'] }],
      pools: undefined,
      node: { nodeId: 'n1', isKnown: true, isCandidate: true, poolIds: [], failed: [] },
    });
  });

  it('has the same refusal text as dispatch', async () => {
    const rig = createRig();
    const { service, addNode, dispatch, request, refusal } = rig;
    const same = async () => {
      const { code, message, reasons } = refusal(await service.dispatch(request()));
      expect(service.explain(question())).toMatchObject({
        kind: 'refuse',
        refusal: { code, message },
        reasons,
      });
      return code;
    };
    expect(await same()).toBe('NO_CAPABLE_NODE');
    await addNode('n1');
    await dispatch();
    expect(await same()).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(service.explain(question({ waitMs: 10 })).kind).toBe('wait');
  });

  it('is a refusal for a tenant at its cap despite free nodes', async () => {
    const { service, addNode, request, refusal } = createRig({
      tenancy: equalTenancy({ maxInflightJobs: 1 }),
    });
    await addNode('n1', 4);
    const tenantPart = { tenantId: 'acme', need: need({ tenantId: 'acme' }) };
    expect(service.explain(question(tenantPart)).kind).toBe('dispatch');
    await service.dispatch(request(tenantPart));
    const { code, message } = refusal(await service.dispatch(request(tenantPart)));
    expect(service.explain(question(tenantPart))).toMatchObject({
      kind: 'refuse',
      candidateNodeId: 'n1',
      refusal: { code, message },
    });
    expect(service.explain(question({ ...tenantPart, waitMs: 1 })).kind).toBe('wait');
  });

  it('omits an excluded node and says so', async () => {
    const { service, addNode } = createRig();
    await addNode('n1');
    const decision = service.explain(question({ excludeNodeId: 'n1', nodeId: 'n1' }));
    expect(decision).toMatchObject({
      kind: 'refuse',
      eligible: 0,
      reasons: [{ reason: 'excluded', count: 1 }],
      node: { isCandidate: false, failed: [{ reason: 'excluded' }] },
    });
  });

  it('says that a node is unknown', () => {
    const { service } = createRig();
    expect(service.explain(question({ nodeId: 'ghost' })).node).toEqual({
      nodeId: 'ghost',
      isKnown: false,
      isCandidate: false,
      poolIds: [],
      failed: [{ reason: 'offline', fact: 'no node of this id is registered' }],
    });
  });

  it('names the pool of the preferred node', async () => {
    const { service, addNode, fleet } = createRig();
    await addNode('a', 1, profile({ installedServices: ['s0'] }));
    await addNode('b', 1, profile({ installedServices: ['s1'] }));
    fleet.changePools(createPoolMap(planOf([pool(0, ['s0']), pool(1, ['s1'])])))(10);
    for (const [preferredNodeId, selected] of [
      ['a', 0],
      ['b', 1],
    ]) {
      const decision = service.explain(
        question({ need: need({ preferredNodeId: preferredNodeId as string }) }),
      );
      expect(decision).toMatchObject({ candidateNodeId: preferredNodeId, pools: { selected } });
    }
  });

  it('says that a strict tenant pool confines the job', async () => {
    const { service, addNode, fleet } = createRig();
    await addNode('a', 1, profile({ installedServices: ['s0'] }));
    const plan = planOf([pool(0, ['s0']), pool(1, ['s1'])], {
      isStrict: true,
      tenantPools: new Map([['acme', 1]]),
    });
    fleet.changePools(createPoolMap(plan))(10);
    const decision = service.explain(question({ need: need({ tenantId: 'acme' }), nodeId: 'a' }));
    expect(decision).toMatchObject({
      kind: 'refuse',
      pools: {
        attempts: [{ poolId: 1, reason: 'no_nodes' }],
        confinement: 'tenant_pool',
        selected: undefined,
      },
      node: { poolIds: [0], failed: [{ reason: 'not_in_pool' }] },
    });
    expect(decision.refusal?.message).toContain('pool 1 (p1), to which tenant acme is bound');
  });
});

describe('explaining costs the hot path nothing', () => {
  it('changes no fleet, ledger or store, and counts nothing', async () => {
    const { service, addNode, fleet, counts, sent, published, used, store } = createRig();
    await addNode('n1');
    fleet.changePools(createPoolMap(planOf([])))(10);
    service.explain(question());
    const before = { stats: fleet.stats(), load: fleet.load('n1'), counts: new Map(counts) };
    for (let n = 0; n < 2_000; n++) {
      service.explain(question({ need: need({ services: [`s${n}`] }), nodeId: 'n1', excludeNodeId: 'n2' }));
    }
    expect({ stats: fleet.stats(), load: fleet.load('n1'), counts }).toEqual(before);
    expect(await used('n1')).toBe(0);
    expect([sent, published, (await store.list({ limit: 10 })).jobs]).toEqual([[], [], []]);
    expect(service.inFlight()).toBe(0);
  });

  it('is imported by no part of dispatch, sessions or cluster', () => {
    const src = 'packages/scheduler/src';
    const users = filesUnder(src, '.ts').filter((file) =>
      importsOf(file.text).some((one) => resolveImport(file, one).includes('runtime/explain/')),
    );
    const outside = users
      .map(({ path }) => path)
      .filter((path) => !path.includes('/explain/') && !path.includes('/transport/http/'));
    expect(outside.sort()).toEqual([
      `${src}/app/observing/watching.ts`,
      `${src}/app/servers.ts`,
      `${src}/runtime/create-job-service.ts`,
    ]);
  });
});
