/** Behaviour files: their keys, and the problems that are reported. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { HEALTHY } from '../../../src/cli/simulated-node/behaviour.ts';
import { BEHAVIOUR_USAGE } from '../../../src/cli/simulated-node/behaviour-usage.ts';
import { readBehaviour } from '../../../src/cli/simulated-node/read-behaviour.ts';

const problemsOf = (text: string): readonly string[] => {
  const file = readBehaviour(text);
  return file.kind === 'invalid' ? file.problems : [];
};

it('reads an empty file as a healthy node', () => {
  expect(readBehaviour('')).toEqual({ kind: 'mix', mix: [{ share: 1, behaviour: HEALTHY }] });
});

it('reads every key', () => {
  const file = readBehaviour(`
    failure_rate = 0.1
    failure_code = "MODEL_LOAD_FAILED"
    silence_rate = 0.2
    ack_silence_rate = 0.3
    late_rate = 0.4
    late_ms = 1000
    duplicate_rate = 0.5
    model_not_available_rate = 0.6
    service_id = "nmt-x"
    overload_rate = 0.7
    crash_after_jobs = 9
    restart_after_ms = 100
    tts_ms = 0
    legacy = true
    [latency]
    kind = "uniform"
    min_ms = 1
    max_ms = 2
    [slow_death]
    after_jobs = 5
    factor = 1.5
    silent_above_ms = 3000
  `);
  expect(file).toEqual({
    kind: 'mix',
    mix: [
      {
        share: 1,
        behaviour: {
          latency: { kind: 'uniform', minMs: 1, maxMs: 2 },
          failureRate: 0.1,
          failureCode: 'MODEL_LOAD_FAILED',
          silenceRate: 0.2,
          ackSilenceRate: 0.3,
          lateRate: 0.4,
          lateMs: 1_000,
          duplicateRate: 0.5,
          modelNotAvailableRate: 0.6,
          modelNotAvailableService: 'nmt-x',
          overloadRate: 0.7,
          crashAfterJobs: 9,
          restartAfterMs: 100,
          ttsMs: 0,
          isLegacy: true,
          slowDeath: { afterJobs: 5, factor: 1.5, silentAboveMs: 3_000 },
        },
      },
    ],
  });
});

it('reads a mix, and JSON as well', () => {
  const file = readBehaviour(
    '{"mix":[{"share":3},{"share":1,"legacy":true,"latency":{"kind":"exponential","mean_ms":5}}]}',
  );
  expect(file).toMatchObject({
    kind: 'mix',
    mix: [
      { share: 3, behaviour: HEALTHY },
      { share: 1, behaviour: { isLegacy: true, latency: { kind: 'exponential', meanMs: 5 } } },
    ],
  });
});

it('reports every problem with its place', () => {
  expect(
    problemsOf(`
      failure_rate = 2
      failure_rat = 0.1
      legacy = "yes"
      [latency]
      kind = "lognormal"
      median_ms = 10
    `),
  ).toEqual([
    'latency.p99_ms is missing',
    'failure_rate must be a number from 0 to 1',
    'legacy must be true or false',
    'failure_rat is unknown; did you mean failure_rate?',
  ]);
});

it('reports the place inside a mix', () => {
  expect(problemsOf('[[mix]]\nshare = 1\n[[mix]]\ncrash_after_jobs = 1.5')).toEqual([
    'mix[1].crash_after_jobs must be a whole number from 1 to 1000000000',
  ]);
});

it('reports an unknown distribution and a broken file', () => {
  expect(problemsOf('[latency]\nkind = "normal"')).toEqual([
    'latency.kind must be one of constant, uniform, lognormal, exponential',
  ]);
  expect(problemsOf('[latency]\nkind = "uniform"\nmin_ms = 2\nmax_ms = 1')).toEqual([
    'latency.min_ms must not exceed max_ms',
  ]);
  expect(problemsOf('failure_rate =')[0]).toContain('neither TOML nor JSON');
  expect(problemsOf('{"mix":')[0]).toContain('neither TOML nor JSON');
  expect(problemsOf('latency = 3')).toContain('latency must be a table');
});

it('is documented key by key in the help, with a valid example', () => {
  const source = readFileSync(
    new URL('../../../src/cli/simulated-node/read-behaviour.ts', import.meta.url),
    'utf8',
  );
  const asked = /\b(?:number|optionalNumber|rate|time|text|flag|choice|table|tables)\('([a-z0-9_]+)'/g;
  const keys = new Set([...source.matchAll(asked)].map(([, key]) => key));
  expect(keys.size).toBeGreaterThan(20);
  const explained = new Set(BEHAVIOUR_USAGE.match(/[a-z0-9_]+/g));
  expect([...keys].filter((key) => key !== undefined && !explained.has(key))).toEqual([]);
  const example = BEHAVIOUR_USAGE.slice(BEHAVIOUR_USAGE.lastIndexOf(':\n') + 2);
  expect(readBehaviour(example)).toMatchObject({
    mix: [
      { share: 9, behaviour: { latency: { kind: 'uniform', minMs: 800 } } },
      { share: 1, behaviour: { failureRate: 0.5 } },
    ],
  });
});
