/** The commands `lingua explain` and `lingua pools`, against the whole scheduler. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExplainReply } from '@lingua/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bodyOf, printExplanation, runExplain } from '../../../src/cli/commands/explain.ts';
import { printPools, runPools } from '../../../src/cli/commands/pools.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { startFourPools } from '../../e2e/support/four-pools.ts';
import { startApp } from '../../e2e/support/start-app.ts';
import { TOKEN_TOML, TOKENS } from '../../e2e/support/tokens.ts';
import { createTerminal } from '../terminal.ts';

async function run(command: 'explain' | 'pools', ...argv: readonly string[]) {
  const io = createTerminal();
  const status = await runCommand([command, ...argv], io);
  return { status, out: io.lines.join('\n'), err: io.errors };
}

const REFUSED: ExplainReply = {
  outcome: 'refuse',
  refusal: { code: 'NO_CAPABLE_NODE', message: 'No node supports it.' },
  tenant_id: 'acme',
  requirements: {
    directions: [{ source: 'en', target: 'zh' }],
    types: ['asr', 'nmt'],
    services: ['whisper'],
    features: ['emotion_detection'],
    audio_by_reference: true,
    public_node: true,
  },
  total_nodes: 12,
  eligible_nodes: 0,
  reasons: [
    { reason: 'not_in_pool', count: 11, sample_node_ids: ['node-1', 'node-2'] },
    { reason: 'offline', count: 1 },
  ],
  pools: [
    { pool_id: 3, pool_name: 'acme\nonly', reason: 'missing_core_asr_installed', candidates: 0 },
    { pool_id: -1, reason: 'no_nodes', candidates: 0 },
  ],
  preferred_pool: 3,
  fallback_used: false,
  confinement: 'tenant_pool',
  node: {
    node_id: 'node-1',
    known: true,
    candidate: false,
    pool_ids: [1],
    failed: [{ reason: 'not_in_pool', fact: 'is in pool 1; the job may go to pool 3' }],
  },
};

describe('lingua explain', () => {
  it('prints the decision and its reasons as text', () => {
    expect(printExplanation(REFUSED)).toBe(`Would be refused: No node supports it. (NO_CAPABLE_NODE)

Required for tenant acme: en -> zh; ready: asr, nmt, whisper; features: emotion_detection; can fetch audio

Pools, in the order of search:
POOL  NAME       CANDIDATES  REASON
3     acme�only           0  missing_core_asr_installed
none  -                   0  no_nodes

The tenant is bound to this pool, and its jobs may not leave it (strict_pool_eligibility).

Of 12 nodes 0 could take it now.

REASON       NODES  FOR EXAMPLE
not_in_pool     11  node-1, node-2
offline          1  -

Node node-1 (pool 1) is not chosen:
  - is in pool 1; the job may go to pool 3  [not_in_pool]`);
  });

  it('never prints "pool -1" or "pool none" for a node in no pool', () => {
    const node = { ...REFUSED.node, pool_ids: [-1] } as ExplainReply['node'];
    const chosen = { ...REFUSED, outcome: 'dispatch', selected_pool: -1, node } as ExplainReply;
    const page = printExplanation(chosen);
    expect(page).toContain('Would be dispatched now in no pool.');
    expect(page).toContain('Node node-1 (in no pool) is not chosen');
    expect(page).not.toMatch(/pool (-1|none)/);
  });

  it('reads from a running scheduler, as a page or as JSON', async () => {
    const { app } = await startFourPools();
    const argv = ['--url', app.url, '--src', 'en', '--tgt', 'zh', '--tenant', 'acme', '--session', 's1'];
    const page = await run(
      'explain',
      ...argv,
      '--tts',
      '--require',
      'gold',
      '--require',
      'asr',
      '--node',
      'node-silver',
    );
    expect(page).toMatchObject({ status: 0, err: [] });
    expect(page.out).toContain('Would be dispatched now in pool 1; node-gold is one that could be chosen.');
    expect(page.out).toContain('ready: asr, nmt, semantic, tts, gold');
    expect(page.out).toMatch(/^ {2}- service "gold" is not installed .*\[service_not_installed\]$/m);
    const json = await run(
      'explain',
      ...argv,
      '--feature',
      'persona_adaptation',
      '--exclude',
      'node-gold',
      '--json',
    );
    expect(JSON.parse(json.out)).toMatchObject({
      outcome: 'refuse',
      requirements: { features: ['persona_adaptation'] },
    });
    expect((await run('explain', ...argv, '--node', 'ghost')).out).toContain('Node ghost is not registered');
  });

  it('reads the body from a file; flags override it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lingua-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'body.json');
    const { url } = await startApp();
    await writeFile(file, '{"session_id":"s","src_lang":"de","tgt_lang":"fr","audio_ref":"blob://x"}');
    const { status, out } = await run('explain', '--url', url, '--body', file, '--src', 'en');
    expect(status).toBe(0);
    expect(out).toContain('en -> fr');
    expect(out).toContain('can fetch audio');
    await writeFile(file, '[1]');
    expect(await run('explain', '--url', url, '--body', file)).toMatchObject({
      status: 2,
      err: [`lingua explain: --body ${file} is no JSON object; it must be a body for POST /v1/dispatch/f2f`],
    });
    expect((await run('explain', '--body', join(folder, 'none'))).err[0]).toContain(
      'cannot be read (ENOENT)',
    );
  });

  it('keeps the values of the body without flags', () => {
    const given = {
      session_id: 's',
      src_lang: 'de',
      tgt_lang: 'fr',
      audio: 'AAAA',
      options: { strict: true },
    };
    expect(bodyOf({ tts: true }, given)).toEqual({ ...given, options: { strict: true, require_tts: true } });
  });

  it.each([
    [[], 'give the languages with --src en --tgt zh, or the body of a dispatch with --body'],
    [['--src', 'en'], 'give the languages with --src en --tgt zh, or the body of a dispatch with --body'],
    [
      ['--src', 'en', '--tgt', 'zh', '--feature', 'x'],
      'there is no feature "x"; there are emotion_detection',
    ],
    [['--src', 'en', '--tgt', 'zh', 'word'], '"word" is not expected here'],
    [['--raw'], 'there is no option --raw'],
  ])('prints a helpful message for %j', async (argv, problem) => {
    const io = createTerminal();
    expect(await runExplain(argv, io)).toBe(2);
    expect(io.errors[0]).toContain(`lingua explain: ${problem}`);
  });

  it('prints why the scheduler refused', async () => {
    const { url } = await startApp();
    const { status, err } = await run('explain', '--url', url, '--src', 'en', '--tgt', 'auto');
    expect(status).toBe(1);
    expect(err[0]).toContain('"tgt_lang" must name a language');
  });
});

describe('lingua pools', () => {
  it('shows every pool, its nodes and their core services', async () => {
    const { app } = await startFourPools();
    const { status, out } = await run('pools', '--url', app.url);
    expect(status).toBe(0);
    expect(out).toContain('4 pools, strict; tenants bound: acme -> 1, globex -> 4');
    expect(out).toMatch(/^ *1 +gold +1 +1 +1 +1\/1 +1\/1 +1\/1 +gold +node-gold$/m);
    expect(out).toMatch(/^ *4 +lead +0 +0 +0 +0\/0 +0\/0 +0\/0 +lead +-$/m);
    const json = await run('pools', '--url', app.url, '--json');
    expect(JSON.parse(json.out)).toMatchObject({ pools: [{ pool_id: 1 }, {}, {}, { pool_id: 4 }] });
  });

  it('prints a note without pools, and lists nodes without a pool', () => {
    const unpooled = { total_nodes: 2, sample_node_ids: ['a', 'b'] };
    expect(printPools({ config: { enabled: false }, pools: [], unpooled })).toBe(
      'The nodes are not divided into pools (scheduler.pools.enabled = false): all 2 are one.',
    );
    const pools = [{ pool_id: 1 }, { pool_id: 7, dedicated: true }];
    expect(printPools({ config: { enabled: true, pools }, pools: [], unpooled })).toContain(
      'dedicated to them: 7',
    );
    expect(printPools({ config: { enabled: true }, pools: [], unpooled })).toContain(
      '2 in no pool, for example a, b',
    );
  });

  it('requires an operator token', async () => {
    const { url } = await startApp({}, TOKEN_TOML);
    const io = createTerminal();
    expect(await runPools(['--url', url, '--token', TOKENS.client], io)).toBe(1);
    expect(io.errors[0]).toContain('use one of server.tokens with role "operator"');
    expect(await runPools(['word'], io)).toBe(2);
  });
});
