/** What is printed: the effective configuration without secrets, the documentation, the example file. */
import { describe, expect, it } from 'vitest';
import { envName, knownNames, valueNames } from '../../src/config/known-names.ts';
import { configToJson, printConfig } from '../../src/config/print-config.ts';
import { printConfigDoc } from '../../src/config/print-config-doc.ts';
import { printConfigExample } from '../../src/config/print-config-example.ts';
import { settingsByKey } from '../../src/config/settings.ts';
import { loaded, problemsOf } from './loaded.ts';

describe('the printed configuration', () => {
  const { config, origins } = loaded({
    toml: {
      path: 'config.toml',
      text: `
        [server]
        cors_origins = ["https://a.org", "https://b.org"]
        [[server.tokens]]
        token = "secret-token-of-a-node"
        role = "node"
        name = "lab"
        [scheduler.cluster.redis]
        url = "redis://user:secret-in-url@redis:6379"
        cluster_urls = ["redis://:secret-in-list@redis:6379"]
        password = "secret-password"
        sentinel_password = "secret-password-too"
        [model_hub]
        base_url = "https://hub?token=secret-in-query"`,
    },
    env: { LINGUA_SERVER__PORT: '5011' },
  });

  it('has every setting with its value and origin', () => {
    const text = printConfig(config, origins);
    expect(text.trimEnd().split('\n')).toHaveLength(settingsByKey.size);
    expect(text).toMatch(/^server\.port +5011 +LINGUA_SERVER__PORT$/m);
    expect(text).toMatch(/^server\.host +"127\.0\.0\.1" +default$/m);
    expect(text).toMatch(
      /^server\.cors_origins +\["https:\/\/a\.org", "https:\/\/b\.org"\] +config\.toml:3$/m,
    );
    expect(text).toMatch(/^server\.advertise_url +\(unset\) +default$/m);
    expect(text).toMatch(/^scheduler\.audio\.max_bytes_total +"512MB" +default$/m);
  });

  it('never has a secret, as text or as JSON', () => {
    const text = printConfig(config, origins);
    const json = configToJson(config, origins);
    expect(text).not.toContain('secret');
    expect(JSON.stringify(json)).not.toContain('secret');
    expect(text).toMatch(/^scheduler\.cluster\.redis\.password +\(set\) +config\.toml:11$/m);
    expect(json['server.tokens']).toEqual({
      value: [{ token: '(set)', role: 'node', name: 'lab' }],
      origin: 'config.toml:4',
    });
    expect(json['scheduler.cluster.redis.url']?.value).toBe('redis://user:***@redis:6379');
    expect(json['server.advertise_url']).toEqual({ value: null, origin: 'default' });
  });

  it('has no secret in problems either', () => {
    const problems = problemsOf({
      toml: {
        path: 'c.toml',
        text: `
          [server]
          tokens = ["secret-token", { token = ["secret-list"], rol = "secret-role", role = "node" }]
          advertise_url = "secret-url"
          [scheduler.cluster.redis]
          url = "secret-redis"
          password = ["secret-password"]
          pasword = "secret-typo"`,
      },
      env: {
        LINGUA_SERVER__TOKENS: 'secret-json',
        LINGUA_SCHEDULER__CLUSTER__REDIS__PASWORD: 'secret-env',
      },
      flags: [
        ['set', 'server.token=secret-flag'],
        ['set', 'secret-flag-alone'],
      ],
    });
    expect(problems.length).toBeGreaterThanOrEqual(10);
    expect(problems.join('\n')).not.toContain('secret');
  });
});

describe('the table', () => {
  it('gives every setting its own environment variable', () => {
    expect(new Set(valueNames.map(envName)).size).toBe(valueNames.length);
    for (const name of knownNames.keys()) expect(name).toMatch(/^[a-z0-9_]+(\.[a-z0-9_]+)*$/);
  });

  it('has a default that each setting itself accepts, and a doc', () => {
    for (const [key, setting] of settingsByKey) {
      setting.read(setting.default, key, (at, message) => expect.fail(`${at} ${message}`));
      expect(setting.doc, key).toMatch(/\.$/);
    }
  });

  it('has no alias that is also a setting', () => {
    const aliases = [...settingsByKey.values()].flatMap((setting) => setting.aliases.map(({ key }) => key));
    for (const alias of aliases) expect(settingsByKey.has(alias)).toBe(false);
  });
});

describe('the documents', () => {
  // `npx vitest run packages/scheduler/test/config/print.test.ts --update` writes the files.
  it('docs/config.md is what the table prints', async () => {
    await expect(printConfigDoc()).toMatchFileSnapshot('../../../../docs/config.md');
  });

  it('config.example.toml is what the table prints', async () => {
    await expect(printConfigExample()).toMatchFileSnapshot('../../../../config.example.toml');
  });

  it('the example loads as it is and gives the defaults', () => {
    const { config } = loaded({ toml: { path: 'config.example.toml', text: printConfigExample() } });
    expect(config).toEqual(loaded().config);
  });

  it('the example with every line uncommented loads, and still gives the defaults', () => {
    const text = printConfigExample().replaceAll(/^#(?! )/gm, '');
    const { config, origins } = loaded({ toml: { path: 'config.example.toml', text } });
    expect([...origins].filter(([, { kind }]) => kind === 'default')).toEqual([]);
    const { pools, tenant_overrides } = config.scheduler.pools;
    const rows = [config.server.tokens, config.scheduler.tenants, pools, tenant_overrides];
    expect(rows.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
    expect({ ...config.server, tokens: [] }).toEqual(loaded().config.server);
    const { pools: _, ...defaults } = loaded().config.scheduler;
    const { pools: __, ...uncommented } = config.scheduler;
    const regions = { ...uncommented.regions, round_trips: [] };
    expect({ ...uncommented, tenants: [], quotas: [], regions }).toEqual(defaults);
  });
});
