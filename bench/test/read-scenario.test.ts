/** Scenario files: declared values are read, and errors name file and field. */
import { describe, expect, it } from 'vitest';
import { declaredScenarios, findScenario } from '../src/scenario/find-scenarios.ts';
import { quickened } from '../src/scenario/quickened.ts';
import { readScenario } from '../src/scenario/read-scenario.ts';
import { isSuite } from '../src/suite-titles.ts';

const WHOLE = `
title = "Everything at once"
measures = "jobs"
store = "redis"
peers = ["bullmq", "evalsha"]
seconds = 2.5
rounds = 3
wait_ms = 100

[fleet]
nodes = 40
slots = 8
languages = ["en", "zh", "ja"]
languages_per_node = 2
heartbeat_seconds = 5

[arrivals]
process = "bursts"
rate = 300
burst_size = 10

[service]
distribution = "exponential"
mean_ms = 0

[[mix]]
share = 3
tenant = "a"
priority = "high"
source = "en"
target = "zh"

[[mix]]
share = 1

[saturation]
from = 100

[[thresholds]]
figure = "flood_per_second"
against = "bullmq"
comparison = "at_least"
target = 1.5
`;
const read = (text: string) => readScenario('own.toml', 'own', text);

describe('a scenario', () => {
  it('is read as declared', () => {
    expect(read(WHOLE)).toEqual({
      name: 'own',
      title: 'Everything at once',
      measures: 'jobs',
      store: 'redis',
      instances: 1,
      sessions: 100,
      peers: ['bullmq', 'evalsha'],
      seconds: 2.5,
      mostRounds: 3,
      inFlight: 64,
      waitMs: 100,
      fleet: {
        nodes: 40,
        slots: 8,
        languages: ['en', 'zh', 'ja'],
        languagesPerNode: 2,
        heartbeatSeconds: 5,
        busy: 0,
      },
      arrivals: { process: 'bursts', rate: 300, burstSize: 10 },
      service: { distribution: 'exponential', meanMs: 0 },
      mix: [
        { share: 3, tenant: 'a', priority: 'high', pair: { source: 'en', target: 'zh' } },
        { share: 1, tenant: 'default', priority: 'normal' },
      ],
      saturation: { p99Ms: 50, from: 100, seconds: 2 },
      thresholds: [{ figure: 'flood_per_second', comparison: 'at_least', target: 1.5, against: 'bullmq' }],
    });
  });

  it.each([
    ['a text that is no TOML', 'measures = "jobs', 'own.toml: line 1: '],
    ['a missing field', WHOLE.replace('measures = "jobs"', ''), 'own.toml: measures: is missing'],
    ['a missing rate', WHOLE.replace('rate = 300', ''), 'own.toml: arrivals.rate: is missing'],
    ['an unknown field', WHOLE.replace('slots = 8', 'slotz = 8'), 'own.toml: fleet.slotz: is no field'],
    ['an unknown table', `${WHOLE}\n[weather]\nrain = 1`, 'own.toml: weather: is no field'],
    [
      'a wrong type',
      WHOLE.replace('nodes = 40', 'nodes = "40"'),
      'own.toml: fleet.nodes: must be a whole number',
    ],
    [
      'a part of a node',
      WHOLE.replace('nodes = 40', 'nodes = 4.5'),
      'own.toml: fleet.nodes: must be a whole number',
    ],
    ['too few', WHOLE.replace('nodes = 40', 'nodes = 0'), 'own.toml: fleet.nodes: must be at least 1, not 0'],
    [
      'a word that is none of the choices',
      WHOLE.replace('"bursts"', '"rain"'),
      'own.toml: arrivals.process: must be one of poisson, uniform, bursts, not "rain"',
    ],
    [
      'a table where a value is',
      WHOLE.replace('[fleet]', '[[fleet]]'),
      'own.toml: fleet: must be a table, [fleet]',
    ],
    [
      'bursts of unknown size',
      WHOLE.replace('burst_size = 10', ''),
      'own.toml: arrivals.burst_size: is missing',
    ],
    [
      'more languages per node than there are',
      WHOLE.replace('per_node = 2', 'per_node = 4'),
      'own.toml: fleet.languages_per_node: must be at most 3',
    ],
    [
      'a language that no node has, in the second of the mix',
      WHOLE.replace('share = 1', 'share = 1\nsource = "fr"\ntarget = "en"'),
      'own.toml: mix[1].source: must be one of en, zh, ja, not "fr"',
    ],
    [
      'a pair of one language',
      WHOLE.replace('target = "zh"', 'target = "en"'),
      'own.toml: mix[0].target: must be another',
    ],
    [
      'an unknown peer',
      WHOLE.replace('"evalsha"', '"celery"'),
      'own.toml: peers[1]: must be one of naive, bullmq',
    ],
    [
      'a peer of something else',
      WHOLE.replace('"evalsha"', '"fastify"'),
      'own.toml: peers: fastify cannot be measured by jobs',
    ],
    [
      'BullMQ without Redis',
      WHOLE.replace('"redis"', '"memory"'),
      'own.toml: peers: bullmq needs store = "redis"',
    ],
    [
      'the reserve script with nodes that take time',
      WHOLE.replace('mean_ms = 0', 'mean_ms = 5'),
      'own.toml: service.mean_ms: must be 0',
    ],
    [
      'many instances without a way between them',
      WHOLE.replace('seconds = 2.5', 'seconds = 2.5\ninstances = 2'),
      'own.toml: instances: only requests',
    ],
    [
      'an unknown figure',
      WHOLE.replace('"flood_per_second"', '"speed"'),
      'own.toml: thresholds[0].figure: must be one of',
    ],
    [
      'a figure that is not measured there',
      WHOLE.replace('"flood_per_second"', '"kb_per_session"'),
      'own.toml: thresholds[0].figure: is not measured where jobs are',
    ],
    [
      'a peer that does not take part',
      WHOLE.replace('against = "bullmq"', 'against = "naive"'),
      'own.toml: thresholds[0].against: naive is none of the peers',
    ],
    [
      'a point of no curve',
      WHOLE.replace('target = 1.5', 'target = 1.5\nat = 100'),
      'own.toml: thresholds[0].at: 100 is none of vary.values',
    ],
    [
      'saturation that is not looked for',
      WHOLE.replace('[saturation]\nfrom = 100', '').replace('flood_', 'saturation_'),
      'own.toml: thresholds[0].figure: needs a table [saturation]',
    ],
    [
      'values that go down',
      WHOLE.replace('[saturation]\nfrom = 100', '[vary]\nfield = "nodes"\nvalues = [100, 10]'),
      'own.toml: vary.values: must go up',
    ],
    [
      'a field that cannot vary there',
      WHOLE.replace('[saturation]\nfrom = 100', '[vary]\nfield = "sessions"\nvalues = [1]'),
      'own.toml: vary.field: must be one of nodes, not "sessions"',
    ],
  ])('with %s is refused by file and field', (_, text, complaint) => {
    expect(() => read(text)).toThrow(complaint);
  });
});

describe('the scenarios that come with the bench', () => {
  it('are all in order, also made quick', () => {
    const names = declaredScenarios().map((scenario) => quickened(scenario).name);
    expect(names).toEqual([
      'bursts',
      'dispatch-path',
      'endurance',
      'instances',
      'many-sessions',
      'nodes',
      'redis-peers-300ms',
      'redis-peers',
    ]);
  });

  it('have names that no suite has', () => {
    expect(declaredScenarios().filter(({ name }) => isSuite(name))).toEqual([]);
  });

  it('cover the curves, the peers and the stores that are promised', () => {
    const all = declaredScenarios();
    const curve = (field: string) => all.find(({ vary }) => vary?.field === field)?.vary?.values;
    expect(curve('nodes')).toEqual([100, 1_000, 10_000, 100_000]);
    expect(curve('instances')).toEqual([1, 2, 3, 4]);
    expect(curve('sessions')).toEqual([100, 1_000, 10_000]);
    expect([...new Set(all.flatMap(({ peers }) => peers))].sort()).toEqual([
      'bullmq',
      'echo',
      'evalsha',
      'fastify',
      'naive',
    ]);
  });

  it('are found by name, and an unknown name gives the list', () => {
    expect(findScenario('bursts').arrivals.process).toBe('bursts');
    expect(() => findScenario('weather')).toThrow(/no scenario "weather"; declared are bursts, /);
    expect(() => findScenario('missing.toml')).toThrow('there is no file missing.toml');
  });
});
