/** The configuration as a whole: sources, precedence, origins, and every kind of mistake. */
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { printOrigin } from '../../src/config/origin.ts';
import { configOf, loaded, problemsOf } from './loaded.ts';

describe('sources', () => {
  const toml = {
    path: 'config.toml',
    text: '[server]\n\nport = 1001\nhost = "127.0.0.2"\nping_interval_ms = 500',
  };
  const env = { LINGUA_SERVER__PORT: '1002', LINGUA_SERVER__HOST: '127.0.0.3', PATH: '/bin' };

  it('take precedence over one another: default, file, environment, flag', () => {
    const { config, origins } = loaded({ toml, env, flags: [['port', '1003']] });
    expect(config.server).toMatchObject({ port: 1003, host: '127.0.0.3', ping_interval_ms: 500 });
    const from = (key: string) => printOrigin(origins.get(key) ?? { kind: 'default' });
    expect(from('server.port')).toBe('--port');
    expect(from('server.host')).toBe('LINGUA_SERVER__HOST');
    expect(from('server.ping_interval_ms')).toBe('config.toml:5');
    expect(from('server.drain_timeout_ms')).toBe('default');
  });

  it('give a repeated flag its last value', () => {
    const flags = [
      ['set', 'log.level=debug'],
      ['set', 'log.level=warn'],
    ] as const;
    const { config, origins } = loaded({ flags });
    expect(config.log.level).toBe('warn');
    expect(origins.get('log.level')).toEqual({ kind: 'flag', name: '--set log.level' });
  });

  it('read every kind of value from the environment', () => {
    const { config } = loaded({
      env: {
        LINGUA_SERVER__ANONYMOUS: 'session, node',
        LINGUA_SERVER__CORS_ORIGINS: '',
        LINGUA_SERVER__TOKENS: '[{"token":"0123456789abcdef","role":"operator"}]',
        LINGUA_SERVER__LIMITS__MAX_MESSAGE_BYTES: '3MB',
        LINGUA_SERVER__LIMITS__MAX_BUFFERED_BYTES: '1_048_576',
        LINGUA_SERVER__ADVERTISE_URL: '',
        LINGUA_SCHEDULER__TASK_BINDING__LEASE_SECONDS: '60.5',
        LINGUA_SCHEDULER__TASK_BINDING__SPREAD_ENABLED: 'true',
      },
    });
    expect(config.server).toMatchObject({
      anonymous: ['session', 'node'],
      cors_origins: [],
      tokens: [{ role: 'operator', tenant_id: undefined }],
      advertise_url: undefined,
      limits: { max_message_bytes: 3 * 1024 * 1024, max_buffered_bytes: 1024 * 1024 },
    });
    expect(config.scheduler.task_binding).toMatchObject({ lease_seconds: 60.5, spread_enabled: true });
  });

  it('accept the number 0 for the choice "0"', () => {
    expect(configOf('[session]\nutterance_index_base = 0').session.utterance_index_base).toBe('0');
  });

  it('ignore the variables that Kubernetes makes for services', () => {
    const env = {
      LINGUA_SERVICE_HOST: '10.0.0.1',
      LINGUA_SERVICE_PORT: '5010',
      LINGUA_SERVICE_PORT_HTTP: '5010',
      LINGUA_PORT: 'tcp://10.0.0.1:5010',
      LINGUA_PORT_5010_TCP: 'tcp://10.0.0.1:5010',
      LINGUA_SCHEDULER_PORT_5010_TCP_ADDR: '10.0.0.1',
    };
    expect(problemsOf({ env })).toEqual([]);
    expect(problemsOf({ env: { LINGUA_PORT: '5011' } })).toHaveLength(1);
  });
});

describe('unknown names', () => {
  it.each([
    ['[server]\nprot = 1', 'server.prot is no setting; did you mean server.port? (config.toml:2)'],
    [
      '[server]\nmax_retry = 1',
      'server.max_retry is no setting; did you mean scheduler.max_retry? (config.toml:2)',
    ],
    [
      '[scheduler]\ninstance_id = "a"',
      'scheduler.instance_id is no setting; did you mean scheduler.cluster.instance_id? (config.toml:2)',
    ],
    ['[schedular]\nmax_retry = 1', 'schedular is no setting; did you mean scheduler? (config.toml:1)'],
    ['zzz = 1', 'zzz is no setting (config.toml:1)'],
    [
      '[[scheduler.pools.pools]]\npool_id = 0\n[[scheduler.pools.pools]]\npoolid = 1\npool_id = 1',
      'scheduler.pools.pools[1].poolid is unknown; did you mean pool_id? (config.toml:4)',
    ],
  ])('are reported with the nearest known one: %j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('are found in the environment and in flags', () => {
    const env = { LINGUA_SERVER_PORT: '1' };
    const flags = [
      ['set', 'server.hots=x'],
      ['set', 'nothing'],
      ['verbose', 'x'],
    ] as const;
    expect(problemsOf({ env, flags })).toEqual([
      'LINGUA_SERVER_PORT is no setting; did you mean LINGUA_SERVER__PORT? (LINGUA_SERVER_PORT)',
      'server.hots is no setting; did you mean server.host? (--set server.hots)',
      '--set needs key=value (--set)',
      '--verbose is no setting (--verbose)',
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('include %s, which every object has', (name) => {
    expect(problemsOf(`"${name}" = 1`)).toEqual([`${name} is no setting (config.toml:1)`]);
    expect(problemsOf(`[server."${name}"]\npolluted = 1`)).toHaveLength(1);
    expect(problemsOf(`[[server.tokens]]\ntoken_file = "x"\nrole = "node"\n"${name}" = 1`)).toHaveLength(1);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('wrong values', () => {
  it.each([
    [
      '[server]\nport = 70000',
      'server.port must be a whole number from 0 to 65535, got 70000 (config.toml:2)',
    ],
    [
      '[server]\nport = 5010.5',
      'server.port must be a whole number from 0 to 65535, got 5010.5 (config.toml:2)',
    ],
    [
      '[server]\nport = "5010"',
      'server.port must be a whole number from 0 to 65535, got "5010" (config.toml:2)',
    ],
    ['[server]\nport = nan', 'server.port must be a whole number from 0 to 65535, got NaN (config.toml:2)'],
    ['server = 1', 'server is a group of settings, got 1 (config.toml:1)'],
    ['[log]\nlevel = "loud"', 'log.level must be "trace" or "debug" or'],
    ['[log]\npretty = 1', 'log.pretty must be true or false, got 1 (config.toml:2)'],
    ['[log]\npretty = 1979-05-27', 'log.pretty must be true or false, got a date (config.toml:2)'],
    ['[server]\nanonymous = "node"', 'server.anonymous must be a list; each item "session" or'],
    [
      '[server]\nanonymous = ["nodes"]',
      'server.anonymous[0] must be "session" or "node" or "metrics" or "viewer" or "operator", got "nodes"',
    ],
    ['[server]\ntrusted_networks = ["10.0.0.0/33"]', 'server.trusted_networks[0] must be a network like'],
    ['[server]\nendpoint_networks = ["example.org"]', 'server.endpoint_networks[0] must be a network like'],
    ['[server]\ncors_origins = ["https://a.org/path"]', 'server.cors_origins[0] must be an origin like'],
    [
      '[server]\nadvertise_url = "ftp://a"',
      'server.advertise_url must be an address that starts with http://',
    ],
    ['[server]\ntokens = 5', 'server.tokens must be an array of tables, got a number'],
    [
      '[server.limits]\nmax_message_bytes = "2 apples"',
      'server.limits.max_message_bytes must be 32KB to 64MB',
    ],
    [
      '[scheduler.retry_budget]\npercent = -1',
      'scheduler.retry_budget.percent must be a number from 0 to 100 percent',
    ],
  ])('are reported with the allowed values: %j', (text, problem) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  it('are all reported at once, from every source', () => {
    const problems = problemsOf({
      toml: { path: 'x.toml', text: '[server]\nport = -1\nhots = "a"\n[scheduler]\nack_timeout_ms = 6000' },
      env: { LINGUA_LOG__LEVEL: 'loud', LINGUA_SERVER__PORT: 'http' },
      flags: [['set', 'scheduler.max_retry=many']],
    });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'server.hots',
      'server.port',
      'server.port',
      'log.level',
      'scheduler.max_retry',
      'scheduler.ack_timeout_ms',
    ]);
  });

  it('are not checked against each other', () => {
    expect(problemsOf('[scheduler]\nack_timeout_ms = "long"')).toHaveLength(1);
  });

  it('include a file that is not TOML, without its text', () => {
    const result = loadConfig({ toml: { path: 'c.toml', text: '[server]\npassword = "hunter2-hunter2' } });
    expect(result).toMatchObject({
      kind: 'invalid',
      problems: [{ key: 'c.toml', origin: { kind: 'file', path: 'c.toml', line: 2 } }],
    });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});

describe('aliases', () => {
  it('are converted into the unit of their setting', () => {
    const { config, origins } = loaded({
      toml: { path: 'c.toml', text: '[scheduler.task_binding]\nreserved_ttl_seconds = 7.5' },
    });
    expect(config.scheduler.reservation_ttl_ms).toBe(7500);
    expect(origins.get('scheduler.reservation_ttl_ms')).toEqual({ kind: 'file', path: 'c.toml', line: 2 });
  });

  it('may repeat their setting but not contradict it', () => {
    const both = (seconds: number) =>
      `[scheduler]\nreservation_ttl_ms = 6000\n[scheduler.task_binding]\nreserved_ttl_seconds = ${seconds}`;
    expect(problemsOf(both(6))).toEqual([]);
    expect(problemsOf(both(7))).toEqual([
      'scheduler.task_binding.reserved_ttl_seconds contradicts scheduler.reservation_ttl_ms: both mean the same, 7000 and 6000; remove one of them (config.toml:4)',
    ]);
  });

  it('yield to a later source under either name', () => {
    const toml = { path: 'c.toml', text: '[scheduler]\nreservation_ttl_ms = 6000' };
    const { config } = loaded({ toml, env: { LINGUA_SCHEDULER__TASK_BINDING__RESERVED_TTL_SECONDS: '8' } });
    expect(config.scheduler.reservation_ttl_ms).toBe(8000);
  });

  it('are reported when they are out of range', () => {
    expect(problemsOf('[scheduler.task_binding]\nreserved_ttl_seconds = 900')).toEqual([
      'scheduler.task_binding.reserved_ttl_seconds is 900; times 1000 it is scheduler.reservation_ttl_ms, which must be a whole number from 30 to 600000 ms, got 900000 (config.toml:2)',
    ]);
  });

  it('for several settings yield to each of them', () => {
    const { load_balancer } = configOf(
      '[scheduler.load_balancer]\nresource_threshold = 70\ngpu_threshold_percent = 90',
    ).scheduler;
    expect(load_balancer).toEqual({
      cpu_threshold_percent: 70,
      gpu_threshold_percent: 90,
      memory_threshold_percent: 70,
    });
    expect(problemsOf('[scheduler.load_balancer]\nresource_threshold = 101')).toHaveLength(1);
  });
});

it('LINGUA_URL and LINGUA_TOKEN of the operator commands are no settings and do not prevent a start', () => {
  const env = { LINGUA_URL: 'http://127.0.0.1:5010', LINGUA_TOKEN: 'a-token-of-an-operator' };
  expect(problemsOf({ env })).toEqual([]);
});

describe('scheduler.cluster and scheduler.pools, formerly phase2 and phase3', () => {
  const FORMER = [
    '[scheduler.phase2]\nenabled = true',
    '[scheduler.phase2.redis]\nkey_prefix = "ours"',
    '[scheduler.phase3]\nenabled = true',
    '[[scheduler.phase3.pools]]\npool_id = 7',
  ].join('\n');
  const present = (text: string): string =>
    text
      .replaceAll('scheduler.phase2', 'scheduler.cluster')
      .replaceAll('scheduler.phase3', 'scheduler.pools');

  it('the former names of groups mean the same as the present ones', () => {
    const { cluster, pools } = configOf(FORMER).scheduler;
    expect([cluster.enabled, cluster.redis.key_prefix, pools.enabled, pools.pools]).toMatchObject([
      true,
      'ours',
      true,
      [{ pool_id: 7 }],
    ]);
    expect(configOf(present(FORMER))).toEqual(configOf(FORMER));
  });

  it('variables and flags accept the former names', () => {
    const env = { LINGUA_SCHEDULER__PHASE2__REDIS__KEY_PREFIX: 'from-env' };
    const { config } = loaded({ env, flags: [['set', 'scheduler.phase3.pool_count=5']] });
    expect([config.scheduler.cluster.redis.key_prefix, config.scheduler.pools.pool_count]).toEqual([
      'from-env',
      5,
    ]);
  });

  it('both names with different values are refused, and both are named', () => {
    const text = '[scheduler.cluster]\nenabled = true\n[scheduler.phase2]\nenabled = false';
    expect(problemsOf(text)).toEqual([
      'scheduler.phase2.enabled contradicts scheduler.cluster.enabled: both mean the same, false and true; remove one of them (config.toml:4)',
    ]);
    const rows = '[[scheduler.pools.pools]]\npool_id = 1\n[[scheduler.phase3.pools]]\npool_id = 2';
    expect(problemsOf(rows)).toEqual([expect.stringContaining('contradicts scheduler.pools.pools')]);
    expect(problemsOf('[scheduler.cluster]\nenabled = true\n[scheduler.phase2]\nenabled = true')).toEqual([]);
  });

  it('a problem under a former name has the line of the file and is reported once', () => {
    expect(problemsOf('[scheduler.phase2]\n\nenable = true')).toEqual([
      'scheduler.phase2.enable is no setting; did you mean scheduler.phase2.enabled? (config.toml:3)',
    ]);
    expect(problemsOf(`${FORMER}\n[[scheduler.phase3.pools]]\npool_id = 7`)).toEqual([
      'scheduler.pools.pools[1].pool_id is 7, like scheduler.pools.pools[0] (config.toml:9)',
    ]);
  });
});
