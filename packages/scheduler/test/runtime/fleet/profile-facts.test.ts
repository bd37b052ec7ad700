/** A profile as facts: computed once, and safe against misleading names. */
import { describe, expect, it } from 'vitest';
import type { NodeProfile } from '../../../src/domain/profile.ts';
import { createProfileFacts, factsOfProfile } from '../../../src/runtime/fleet/profile-facts.ts';
import { anyProfile } from './fleet-fixture.ts';

describe('the facts of a profile', () => {
  it('are computed once for all nodes that share it', () => {
    let reads = 0;
    const profile: NodeProfile = {
      ...anyProfile,
      get asr() {
        reads += 1;
        return ['en'];
      },
    };
    const factsOf = createProfileFacts();
    expect(factsOf(profile)).toBe(factsOf(profile));
    expect(reads).toBe(1);
  });

  it('a language named like the wildcard does not mean any language', () => {
    const facts = factsOfProfile({ ...anyProfile, asr: ['any', '*'] });
    expect(facts).not.toContain('asr*');
    expect(factsOfProfile(anyProfile)).toContain('asr*');
  });

  it('a target is reachable only from another, unblocked source', () => {
    const blocked = [{ source: 'en', target: 'zh' }];
    const nmt = {
      sources: ['en'],
      targets: 'any',
      blocked,
      pairs: [{ source: 'de', target: 'de' }],
    } as const;
    const facts = factsOfProfile({ ...anyProfile, nmt });
    expect([...facts].filter((key) => key.includes('into'))).toEqual([
      'into:de',
      'into*',
      'not_into:en',
      'not_into:zh',
    ]);
  });

  it('no target is reachable without a source', () => {
    const nmt = { sources: [], targets: 'any', blocked: [], pairs: [] } as const;
    expect([...factsOfProfile({ ...anyProfile, nmt })].filter((key) => key.includes('into'))).toEqual([]);
  });
});
