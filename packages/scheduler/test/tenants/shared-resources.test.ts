/** I10, I11: what tenants share. A tenant that takes all it can get never keeps another from its part. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settingsByKey } from '../../src/config/settings.ts';
import { METRICS } from '../../src/domain/metrics.ts';
import {
  SHARED_RESOURCES,
  type SharedResource,
  type SharedResourceName,
} from '../../src/domain/shared-resources.ts';
import { partOf } from '../../src/domain/tenancy.ts';
import { RIGS, type Rig } from './shared-resource-rigs.ts';

const resources = Object.entries<SharedResource>(SHARED_RESOURCES) as [SharedResourceName, SharedResource][];
const sharesOf = ({ perTenant }: SharedResource) =>
  perTenant === 'half' ? fc.constant(0.5) : fc.constantFrom(0.1, 0.2, 0.25, 0.4, 0.5);
/** Of these, each share is a whole number. */
const LIMITS = fc.constantFrom(20, 40, 60);

async function useUntilRefused(rig: Rig, tenantId: string, tries: number): Promise<void> {
  for (let count = 0; count < tries; count += 1) await rig.use(tenantId);
}

describe('what tenants share', () => {
  it('names settings and metrics that exist', () => {
    const settings = resources.flatMap(([, { limit, ownLimit }]) => [limit, ownLimit ?? limit]);
    expect(settings.filter((key) => !settingsByKey.has(key) && !/^\d/.test(key))).toEqual([]);
    expect(resources.filter(([, { metric }]) => !(metric in METRICS))).toEqual([]);
  });

  for (const [name, resource] of resources) {
    it.each(RIGS[name].map((create, at) => [at, create] as const))(
      `${name}: a greedy tenant leaves another its part (%i)`,
      async (_, create) => {
        await fc.assert(
          fc.asyncProperty(LIMITS, sharesOf(resource), fc.nat(70), async (limit, share, early) => {
            const rig = create(limit, share);
            const part = partOf(limit, share);
            // The greedy tenant comes first, and comes again.
            await useUntilRefused(rig, 'greedy', early);
            await useUntilRefused(rig, 'modest', part);
            await useUntilRefused(rig, 'greedy', limit + 5);
            expect(await rig.used('modest')).toBe(part);
            expect(await rig.used('greedy')).toBe(part);
          }),
          { numRuns: 25 },
        );
      },
    );
  }
});
