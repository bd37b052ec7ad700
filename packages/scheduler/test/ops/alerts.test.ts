/** Alarms: Prometheus accepts them, each fires on trouble and keeps silent otherwise, and each is explained in the runbook. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP_ENDPOINTS } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../src/domain/metrics.ts';
import { ROOT } from '../architecture/source-files.ts';
import { ALERT_TESTS, ALERTS, readAlerts, SCRAPE_CONFIG } from './ops-files.ts';
import { judgeExpressions, promtool } from './promtool.ts';

const alerts = readAlerts();
const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
const entries = runbook.split(/^(?=### )/m).slice(1);
const titleOf = (entry: string): string => /^### (.*)/.exec(entry)?.[1] ?? '';

/** Minutes on a busy machine. */
const RUN_MS = 900_000;

describe('the alarms', () => {
  it('are rules that Prometheus accepts, and all of them are read here', () => {
    const { isFine, said } = promtool('check', 'rules', ALERTS);
    expect(said).toContain(`${alerts.length} rules found`);
    expect(isFine).toBe(true);
    expect(alerts.length).toBeGreaterThan(30);
    expect(new Set(alerts.map(({ name }) => name)).size).toBe(alerts.length);
  });

  it('fire and keep silent as their unit tests say', { timeout: RUN_MS }, () => {
    const { isFine, said } = promtool('test', 'rules', ALERT_TESTS);
    expect(said).toContain('SUCCESS');
    expect(isFine).toBe(true);
  });

  it('have each a test that it fires and one that it is silent', () => {
    const tests = readFileSync(ALERT_TESTS, 'utf8');
    const named = [...tests.matchAll(/- name: (\w+) (fires|is silent)\n/g)].map(
      ([, name, what]) => `${name} ${what}`,
    );
    expect(named.sort()).toEqual(alerts.flatMap(({ name }) => [`${name} fires`, `${name} is silent`]).sort());
  });

  it('say how urgent they are', () => {
    expect(alerts.filter(({ severity }) => severity !== 'page' && severity !== 'ticket')).toEqual([]);
  });
});

describe('the alarms that page', () => {
  const counting = alerts.filter(
    ({ severity, expr }) => severity === 'page' && /\b(rate|increase)\(/.test(expr),
  );
  const minutes = (text = '0m'): number => Number.parseInt(text, 10) * (text.endsWith('s') ? 1 / 60 : 1);

  it('need a minimum count', () => {
    expect(counting.length).toBeGreaterThan(10);
    const lacking = counting.filter(({ expr }) => !/increase\([^)]*\)\) > [1-9]/.test(expr));
    expect(lacking.map(({ name }) => name)).toEqual([]);
  });

  it('survive one failover: they must hold longer than the window of their rates', () => {
    const hasty = counting.filter(({ expr, lasting }) =>
      [...expr.matchAll(/\[(\w+)\]/g)].some(([, window]) => minutes(lasting) <= minutes(window)),
    );
    expect(hasty.map(({ name }) => name)).toEqual([]);
    const survived = readFileSync(ALERT_TESTS, 'utf8').split('one failover of Redis')[1] ?? '';
    const pages = alerts.filter(({ severity }) => severity === 'page');
    expect(pages.filter(({ name }) => !survived.includes(`alertname: ${name},`))).toEqual([]);
  });
});

describe('the scrape configuration', () => {
  it('is valid, loads the alarms, and names the job and an absolute runbook', () => {
    const { isFine, said } = promtool('check', 'config', SCRAPE_CONFIG);
    expect(said).toContain(`${alerts.length} rules found`);
    expect(isFine).toBe(true);
    const text = readFileSync(SCRAPE_CONFIG, 'utf8');
    expect(text).toMatch(/lingua_runbook: https:\/\//);
    expect(text).toContain('job_name: lingua\n');
  });
});

describe('the runbook', () => {
  it('has one entry per alarm, and no other', () => {
    expect(entries.map(titleOf).sort()).toEqual(alerts.map(({ name }) => name).sort());
  });

  it('is where every alarm points to', () => {
    for (const { name, runbookUrl } of alerts)
      expect(runbookUrl).toBe(`{{ $externalLabels.lingua_runbook }}#${name.toLowerCase()}`);
  });

  it('says of every alarm what it means, how to be sure, what to do and what not', () => {
    const lacking = entries.flatMap((entry) =>
      ['**Means.**', '**Make sure.**', '**Do.**', '**Do not.**']
        .filter((part) => !entry.includes(part))
        .map((part) => `${titleOf(entry)}: ${part}`),
    );
    expect(lacking).toEqual([]);
  });

  it('makes sure with a command, an address or a metric', () => {
    const vague = entries.filter((entry) => {
      const [, how = ''] = /\*\*Make sure\.\*\*([\s\S]*?)\*\*Do\.\*\*/.exec(entry) ?? [];
      return !/`[^`]+`/.test(how);
    });
    expect(vague.map(titleOf)).toEqual([]);
  });

  it('names only metrics, addresses and commands that exist', () => {
    const metrics = [...runbook.matchAll(/\bscheduler_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect(metrics.filter((name) => !(name in METRICS))).toEqual([]);
    const shapes = HTTP_ENDPOINTS.map(({ path }) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`));
    const paths = [...runbook.matchAll(/INSTANCE:5010(\/[\w/.-]+)/g)].map(([, path = '']) => path);
    expect(paths.filter((path) => !shapes.some((shape) => shape.test(path)))).toEqual([]);
    const commands = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
    const used = [...runbook.matchAll(/`lingua (\w+)/g)].map(([, command = '']) => command);
    expect(used.filter((command) => !commands.includes(`lingua ${command}`))).toEqual([]);
  });

  it('asks what Prometheus understands', () => {
    const expressions = [...runbook.matchAll(/`((?:sum|histogram_quantile|topk)\b[^`]*)`/g)].map(
      ([, expr = '']) => expr,
    );
    expect(expressions.length).toBeGreaterThan(10);
    expect(judgeExpressions(expressions)).toMatchObject({ isFine: true });
  });
});
