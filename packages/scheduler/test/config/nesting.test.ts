/** Settings that must fit together: times that nest, pools that exist, addresses for the mode of Redis. */
import { describe, expect, it } from 'vitest';
import { configOf, loaded, problemsOf, warningsOf } from './loaded.ts';

const problemsWith = (...pairs: readonly string[]) =>
  problemsOf({ flags: pairs.map((pair) => ['set', pair] as const) });

describe('nesting', () => {
  it.each([
    [
      'scheduler.reserve_timeout_ms=3000',
      'scheduler.reserve_timeout_ms (3000 ms) must be less than scheduler.ack_timeout_ms (3000 ms)',
    ],
    [
      'scheduler.ack_timeout_ms=5000',
      'scheduler.ack_timeout_ms (5000 ms) must be less than scheduler.reservation_ttl_ms (5000 ms)',
    ],
    [
      'scheduler.reservation_ttl_ms=60000',
      'scheduler.reservation_ttl_ms (60000 ms) must be less than scheduler.job_timeout_seconds (60 s)',
    ],
    [
      'scheduler.job_timeout_seconds=90',
      'scheduler.job_timeout_seconds (90 s) must be less than scheduler.job_deadline_ms (90000 ms)',
    ],
    [
      'scheduler.pending_timeout_ms=90000',
      'scheduler.pending_timeout_ms (90000 ms) must be less than scheduler.job_deadline_ms (90000 ms)',
    ],
    [
      'scheduler.task_binding.lease_seconds=301',
      'scheduler.task_binding.lease_seconds (301 s) must be at most scheduler.job_retention_ms (300000 ms)',
    ],
    [
      'scheduler.cluster.redis.command_timeout_ms=2500',
      'command_timeout_ms (2500 ms) must be less than scheduler.cluster.redis.socket_timeout_ms (2500 ms)',
    ],
    [
      'scheduler.node_health.heartbeat_interval_seconds=45',
      '(45 s) must be less than scheduler.node_health.heartbeat_timeout_seconds (45 s)',
    ],
    [
      'scheduler.ejection.base_ms=300001',
      '(300001 ms) must be at most scheduler.ejection.max_ms (300000 ms)',
    ],
    [
      'scheduler.service_catalog.backoff_base_seconds=301',
      '(301 s) must be at most scheduler.service_catalog.backoff_max_seconds (300 s)',
    ],
    [
      'scheduler.node_health.failure_threshold.failure_count=6',
      '(6) must be at most scheduler.node_health.failure_threshold.window_size (5)',
    ],
    [
      'scheduler.web_task_segmentation.max_bytes=9MB',
      '(9437184 bytes) must be at most scheduler.audio.max_bytes_per_job (8388608 bytes)',
    ],
    [
      'scheduler.audio.max_bytes_total=1MB',
      '(8388608 bytes) must be at most scheduler.audio.max_bytes_total (1048576 bytes)',
    ],
    ['server.headers_timeout_ms=30001', '(30001 ms) must be at most server.request_timeout_ms (30000 ms)'],
  ])('refuses %s', (pair, problem) => {
    const problems = problemsWith(pair);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
    expect(problems[0]).toContain(`(--set ${pair.split('=')[0]})`);
  });

  it('refuses a command timeout that leaves no time for the acknowledgement', () => {
    const problems = problemsWith(
      'scheduler.cluster.redis.command_timeout_ms=3000',
      'scheduler.cluster.redis.socket_timeout_ms=4000',
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('must be less than scheduler.ack_timeout_ms (3000 ms)');
  });

  it('refuses a deadline of less than four presence TTLs and accepts exactly four', () => {
    const deadline = (ms: number) =>
      problemsWith(
        'scheduler.job_timeout_seconds=10',
        'scheduler.pending_timeout_ms=1000',
        `scheduler.job_deadline_ms=${ms}`,
      );
    expect(deadline(16_000)).toEqual([]);
    expect(deadline(15_999)).toHaveLength(1);
    expect(deadline(15_999)[0]).toContain('presence TTL 4000 ms, four of them 16000 ms');
    expect(problemsWith('scheduler.heartbeat_interval_seconds=12')[0]).toContain('96000 ms');
  });

  it('reports the source of the value that was set, in either order', () => {
    expect(problemsWith('scheduler.job_deadline_ms=50000')).toEqual([
      expect.stringContaining('(--set scheduler.job_deadline_ms)'),
    ]);
  });

  it('warns about a binding that ends before its session', () => {
    expect(warningsOf('[scheduler.task_binding]\nlease_seconds = 30')).toContainEqual(
      expect.stringContaining('scheduler.task_binding.lease_seconds (30 s) is less than'),
    );
  });
});

describe('references', () => {
  const pools = '[scheduler.pools]\nenabled = true\n[[scheduler.pools.pools]]\npool_id = 3\n';
  const override = (tenant: string, pool: number) =>
    `[[scheduler.pools.tenant_overrides]]\ntenant_id = "${tenant}"\npool_id = ${pool}\n`;

  it('must be to pools that exist', () => {
    expect(configOf(pools + override('a', 3)).scheduler.pools.tenant_overrides).toHaveLength(1);
    expect(problemsOf(pools + override('a', 4))[0]).toContain('is 4, but the pools are 3');
    expect(problemsOf(override('a', 16))[0]).toContain('is 16, but the pools are 0 to 15');
  });

  it('must be unambiguous', () => {
    expect(problemsOf(`${pools}[[scheduler.pools.pools]]\npool_id = 3`)[0]).toContain('is 3, like');
    expect(problemsOf(pools + override('a', 3) + override('a', 3))[0]).toContain('a is bound twice');
  });

  it('have no effect while pools are off, with a warning', () => {
    expect(warningsOf(override('a', 3))).toContainEqual(
      expect.stringContaining('scheduler.pools.enabled is false'),
    );
  });

  it('to Redis must fit its mode', () => {
    const redis = (...pairs: readonly string[]) =>
      problemsWith(
        'scheduler.cluster.enabled=true',
        ...pairs.map((pair) => `scheduler.cluster.redis.${pair}`),
      );
    expect(redis('mode=single')).toEqual([]);
    expect(redis('mode=sentinel')[0]).toContain('sentinel_urls is empty');
    expect(redis('mode=cluster', 'db=1')[0]).toContain('is 1, but a cluster has only database 0');
    for (const [mode, name] of [
      ['sentinel', 'sentinel_urls'],
      ['cluster', 'cluster_urls'],
    ]) {
      expect(redis(`mode=${mode}`, `${name}=rediss://a,redis://b`)).toEqual([
        expect.stringContaining(`${name} has addresses with redis:// and with rediss://`),
      ]);
      expect(redis(`mode=${mode}`, `${name}=rediss://a,rediss://b`)).toEqual([]);
    }
    expect(redis('tls_cert_file=a.pem')[0]).toContain(
      'tls_cert_file needs scheduler.cluster.redis.tls_key_file',
    );
    expect(redis('tls_key_file=a.key')[0]).toContain(
      'tls_key_file needs scheduler.cluster.redis.tls_cert_file',
    );
    expect(redis('tls_cert_file=a.pem', 'tls_key_file=a.key')).toEqual([]);
    const warned = (...lines: readonly string[]) =>
      warningsOf(
        [
          '[scheduler.cluster]',
          'enabled = true',
          '[scheduler.cluster.redis]',
          'tls_ca_file = "a"',
          ...lines,
        ].join('\n'),
      );
    expect(warned()[0]).toContain('tls_ca_file has no effect: nothing is encrypted');
    for (const way of ['tls = true', 'url = "rediss://a"', 'sentinel_urls = ["rediss://a"]']) {
      expect(warned(way)).toEqual([]);
    }
    expect(loaded({ flags: [['set', 'scheduler.cluster.redis.mode=sentinel']] }).kind).toBe('ok');
  });
});
