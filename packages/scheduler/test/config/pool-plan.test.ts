/** The configured pools as a plan, and the digest by which operators compare plans. */
import { describe, expect, it } from 'vitest';
import { poolDigest, poolPlanOf } from '../../src/app/settings/pool-plan.ts';
import type { PoolPlan } from '../../src/domain/pool.ts';
import { configOf } from '../e2e/support/start-app.ts';

const planFrom = (lines: string, settings = {}): PoolPlan =>
  poolPlanOf(configOf(settings, `[scheduler.pools]\nenabled = true\n${lines}`)) as PoolPlan;

const languagesFrom = (requirements: string) =>
  planFrom(
    `[[scheduler.pools.pools]]\npool_id = 1\n[scheduler.pools.pools.language_requirements]\n${requirements}`,
  ).pools[0]?.languages;

const pairsFrom = (rule: string) =>
  languagesFrom(`nmt_requirements = { ${rule} }`)?.pairs.map(({ source, target }) => `${source}>${target}`);

describe('a plan of pools', () => {
  it('exists only if pools are on', () => {
    expect(poolPlanOf(configOf({}))).toBeUndefined();
  });

  it('has the languages of a pool in folded form', () => {
    expect(languagesFrom('asr_languages = ["EN", "zh"]\nsemantic_languages = ["en"]')).toEqual({
      asr: ['en', 'zh'],
      semantic: ['en'],
      tts: [],
      pairs: [],
    });
  });

  it.each([
    ['rule = "any_to_any", languages = ["en", "zh"]', ['en>zh', 'zh>en']],
    ['rule = "any_to_en", languages = ["en", "zh", "de"]', ['zh>en', 'de>en']],
    ['rule = "en_to_any", languages = ["zh", "de"]', ['en>zh', 'en>de']],
    ['rule = "specific_pairs", supported_pairs = [{ src = "ja", tgt = "DE" }]', ['ja>de']],
    [
      'rule = "any_to_any", languages = ["en", "zh"], blocked_pairs = [{ src = "zh", tgt = "en" }]',
      ['en>zh'],
    ],
  ])('writes the pairs of { %s } out', (rule, pairs) => {
    expect(pairsFrom(rule)?.sort()).toEqual([...pairs].sort());
  });
});

describe('the digest of a plan', () => {
  const bound = (...tenants: string[]) =>
    tenants
      .map(
        (tenant, n) => `[[scheduler.pools.tenant_overrides]]\ntenant_id = "${tenant}"\npool_id = ${n % 2}\n`,
      )
      .join('');
  const digest = (lines: string, settings = {}) => poolDigest(planFrom(lines, settings));

  it('is the same for the same plan, in any order of tenants', () => {
    expect(digest(bound('a', 'b'))).toMatch(/^[0-9a-f]{8}$/);
    const [first, second] = bound('a', 'b').split(/(?=\[\[)/);
    expect(digest(`${second}${first}`)).toBe(digest(bound('a', 'b')));
  });

  it('differs if anything in the plan differs', () => {
    const all = [
      digest(''),
      digest('hash_seed = 1\n'),
      digest('pool_count = 4\n'),
      digest(bound('a')),
      digest(bound('b')),
      digest('', { 'scheduler.core_services.asr_service_id': 'whisper' }),
    ];
    expect(new Set(all).size).toBe(all.length);
    const listed = '[[scheduler.pools.pools]]\npool_id = 1\n';
    expect(digest(`pool_count = 4\n${listed}`)).toBe(digest(listed));
  });
});
