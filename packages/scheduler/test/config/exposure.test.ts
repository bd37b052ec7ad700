/** Access: exposure of the server, and tokens. */
import { describe, expect, it } from 'vitest';
import { checkExposure } from '../../src/config/exposure.ts';
import { isLoopbackHost, isLoopbackNetwork, parseNetwork } from '../../src/config/network.ts';
import { credentialsOf, hashToken } from '../../src/config/tokens.ts';
import { configOf, loaded, problemsOf, warningsOf } from './loaded.ts';

const TOKEN = 'correct-horse-battery';

describe('exposure', () => {
  const { config } = loaded();
  const exposed = (server: object) => checkExposure({ ...config, server: { ...config.server, ...server } });
  const token = { role: 'operator', token: TOKEN };

  it.each(['0.0.0.0', '::', '192.168.0.4', 'example.org'])('refuses %s without tokens or opt-in', (host) => {
    const { problems } = exposed({ host });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain('[[server.tokens]]');
    expect(problems[0]?.message).toContain('server.trusted_networks');
  });

  it('refuses an opt-in that allows only the loopback', () => {
    expect(exposed({ host: '0.0.0.0', anonymous: ['node'] }).problems).toHaveLength(1);
  });

  it('accepts tokens, or an opt-in with networks', () => {
    expect(exposed({ host: '0.0.0.0', tokens: [token] })).toEqual({ problems: [], warnings: [] });
    expect(exposed({ host: '::', anonymous: ['session'], trusted_networks: ['10.0.0.0/8'] })).toEqual({
      problems: [],
      warnings: [],
    });
  });

  it.each(['0.0.0.0/0', '::/0'])('warns when %s is trusted', (network) => {
    const { warnings } = exposed({ anonymous: ['session', 'node'], trusted_networks: [network] });
    expect(warnings[0]?.message).toContain('anybody may act as session, node');
  });

  it('warns when other machines may act as operators without a token', () => {
    const { warnings } = exposed({ anonymous: ['operator'], trusted_networks: ['10.0.0.0/8'] });
    expect(warnings).toHaveLength(1);
  });

  it('accepts a loopback server without credentials', () => {
    expect(exposed({})).toEqual({ problems: [], warnings: [] });
    expect(exposed({ anonymous: ['session'] }).warnings).toEqual([]);
  });

  it('is part of loading', () => {
    expect(problemsOf({ flags: [['host', '0.0.0.0']] })).toEqual([
      expect.stringContaining('server.host is 0.0.0.0, which other machines can reach'),
    ]);
  });
});

describe('networks', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '0:0:0:0:0:0:0:1', 'localhost'])(
    '%s is the loopback',
    (host) => {
      expect(isLoopbackHost(host)).toBe(true);
    },
  );

  it.each(['0.0.0.0', '::', '::2', '1::1', '128.0.0.1', '127.example.org', ''])('%j is not', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });

  it.each(['10.0.0.0/8', '10.1.2.3', '::/0', 'fe80::/10', '::ffff:10.0.0.0/104'])(
    '%s is a network',
    (text) => {
      expect(parseNetwork(text)).toBeDefined();
    },
  );

  it.each([
    '',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'a/8',
    '::ffff:10.0.0.0/8',
  ])('%j is none', (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });

  it('a range wider than the loopback counts as a network', () => {
    const isLoopback = (text: string) => {
      const network = parseNetwork(text);
      return network !== undefined && isLoopbackNetwork(network);
    };
    expect(isLoopback('127.0.0.0/8')).toBe(true);
    expect(isLoopback('127.0.0.0/7')).toBe(false);
    expect(isLoopback('::1/128')).toBe(true);
    expect(isLoopback('::1/64')).toBe(false);
  });
});

describe('tokens', () => {
  const row = (...lines: readonly string[]) => `[[server.tokens]]\n${lines.join('\n')}\n`;
  const good = row(`token = "${TOKEN}"`, 'role = "node"', 'node_ids = ["node-1"]');

  it('become credentials without the secret', () => {
    const config = configOf(
      good + row(`token_sha256 = "${'AB'.repeat(32)}"`, 'role = "client"', 'tenant_id = "acme"'),
    );
    expect(credentialsOf(config)).toEqual([
      {
        sha256: hashToken(TOKEN),
        role: 'node',
        tenant_id: undefined,
        node_ids: ['node-1'],
        pool_ids: undefined,
        name: undefined,
      },
      {
        sha256: 'ab'.repeat(32),
        role: 'client',
        tenant_id: 'acme',
        node_ids: undefined,
        pool_ids: undefined,
        name: undefined,
      },
    ]);
  });

  it.each([
    [
      'too short',
      row('token = "fifteen-letters"', 'role = "node"'),
      'server.tokens[0].token is 15 characters long',
    ],
    ['not for a header', row('token = "sixteen letters!"', 'role = "node"'), 'visible ASCII'],
    ['absent', row('role = "node"'), 'server.tokens[0] needs exactly one of'],
    ['given twice', row(`token = "${TOKEN}"`, 'token_file = "x"', 'role = "node"'), 'needs exactly one of'],
    ['without a role', row(`token = "${TOKEN}"`), 'server.tokens[0].role is missing'],
    [
      'without its tenant',
      row(`token = "${TOKEN}"`, 'role = "client"'),
      'server.tokens[0].tenant_id is missing',
    ],
    [
      'pinned but of no node',
      row(`token = "${TOKEN}"`, 'role = "operator"', 'node_ids = ["a"]'),
      'only for the role node',
    ],
    [
      'of one tenant but for all',
      row(`token = "${TOKEN}"`, 'role = "viewer"', 'tenant_id = "acme"'),
      'server.tokens[0].tenant_id is not for the role viewer',
    ],
    [
      'bound to no pool',
      row(`token = "${TOKEN}"`, 'role = "node"', 'pool_ids = []'),
      'server.tokens[0].pool_ids is empty',
    ],
    ['not a hash', row('token_sha256 = "abc"', 'role = "node"'), 'must be 64 hexadecimal digits'],
    ['repeated', good + good, 'server.tokens[1] has the same token as server.tokens[0]'],
    [
      'repeated as a hash',
      good + row(`token_sha256 = "${hashToken(TOKEN)}"`, 'role = "node"'),
      'has the same token as',
    ],
  ])('are refused when %s', (_, text, problem) => {
    const problems = problemsOf(text);
    expect(problems.join('\n')).toContain(problem);
    expect(problems.join('\n')).not.toContain(TOKEN);
  });

  it('are reported with the line of their row', () => {
    expect(problemsOf(good + row('token = "short"', 'role = "node"'))).toEqual([
      expect.stringContaining('(config.toml:5)'),
    ]);
  });

  it('prevent the warning that no token is configured', () => {
    expect(warningsOf(good)).toEqual([]);
  });
});
