/** A private node gets the jobs of its tenant and no others. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { type CompiledNeed, compileNeed, matches } from '../../../src/runtime/select/compile-need.ts';
import { select } from '../../../src/runtime/select/select.ts';
import { anyProfile, nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';

const OPTIONS = {
  chance: seededChance(16),
  sampleK: 20,
  policy: 'weighted_random',
  excluded: new Set<string>(),
} as const;

const put = (fleet: FleetView, nodeId: string, privateTo?: string): void =>
  fleet.upsert(nodeView(nodeId, { profile: { ...anyProfile, ...(privateTo && { privateTo }) } }));

const jobOf = (fleet: FleetView, tenantId: string, preferredNodeId?: string): CompiledNeed =>
  compileNeed(fleet, someNeed({ tenantId, needsPublicNode: true, preferredNodeId }));

function candidates(fleet: FleetView, compiled: CompiledNeed): string[] {
  const selection = select(fleet, compiled, OPTIONS);
  const found: string[] = [];
  for (let id = selection.next(); id !== undefined; id = selection.next()) found.push(id);
  return found.sort();
}

describe('a private node', () => {
  it('is a candidate for jobs of its tenant, beside public nodes', () => {
    const fleet = createFleetView();
    put(fleet, 'public');
    put(fleet, 'own', 'acme');
    expect(candidates(fleet, jobOf(fleet, 'acme'))).toEqual(['own', 'public']);
    expect(candidates(fleet, jobOf(fleet, 'globex'))).toEqual(['public']);
    expect(candidates(fleet, jobOf(fleet, 'globex', 'own'))).toEqual(['public']);
  });

  it('is found by a job that waited before the node registered', () => {
    const fleet = createFleetView();
    const waiting = jobOf(fleet, 'acme');
    expect(candidates(fleet, waiting)).toEqual([]);
    put(fleet, 'own', 'acme');
    expect(matches(waiting, 'own')).toBe(true);
    expect(candidates(fleet, waiting)).toEqual(['own']);
  });

  it('adds a query for its own tenant only', () => {
    const fleet = createFleetView();
    put(fleet, 'own', 'acme');
    const others = jobOf(fleet, 'globex').query;
    for (let n = 0; n < 100; n += 1) expect(jobOf(fleet, `tenant-${n}`).query).toBe(others);
    expect(jobOf(fleet, 'acme').query).not.toBe(others);
  });
});

it('I10: no job is ever offered a node that is private to another tenant', () => {
  const tenant = fc.constantFrom('acme', 'globex', 'default');
  const change = fc.record({
    nodeId: fc.constantFrom('a', 'b', 'c', 'd'),
    privateTo: fc.option(tenant, { nil: undefined }),
    isGone: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 30 }),
      fc.array(tenant, { maxLength: 6 }),
      (changes, tenants) => {
        const fleet = createFleetView();
        // Compiled before any node is known, and used all the time.
        const early = tenants.map((tenantId) => jobOf(fleet, tenantId));
        for (const { nodeId, privateTo, isGone } of changes) {
          if (isGone) fleet.remove(nodeId);
          else put(fleet, nodeId, privateTo);
          for (const compiled of [...early, ...tenants.map((tenantId) => jobOf(fleet, tenantId))]) {
            const isOpen = (id: string): boolean => {
              const owner = fleet.view(id)?.profile.privateTo;
              return owner === undefined || owner === compiled.need.tenantId;
            };
            const open = ['a', 'b', 'c', 'd'].filter((id) => fleet.has(id) && isOpen(id));
            expect(candidates(fleet, compiled)).toEqual(open);
          }
        }
      },
    ),
  );
});
