/** A scenario from the text of its file, or what is wrong with it: by file and field. */
import { parse, TomlError } from 'smol-toml';
import { PROCESSES } from '../open-loop/arrivals.ts';
import { DISTRIBUTIONS } from '../open-loop/service-time.ts';
import { createFields, type Fields, ScenarioError } from './fields.ts';
import { type Fleet, type MixEntry, PRIORITIES, type Scenario, type Threshold } from './scenario.ts';
import {
  FIGURE_IDS,
  FIGURES,
  MEASURES,
  type Measure,
  PEER_NAMES,
  PEERS,
  VARIED,
  type Varied,
} from './vocabulary.ts';

const WHOLE = { min: 1, isWhole: true };
const DEFAULT_LANGUAGES = ['en', 'zh', 'ja', 'ko', 'de', 'fr', 'es', 'pt'];

/** `file` is its name in errors; the scenario's name is that of its file. */
export function readScenario(file: string, name: string, text: string): Scenario {
  const fields = createFields(file, parsed(file, text));
  const measures = fields.choice('measures', MEASURES);
  const arrivals = fields.table('arrivals');
  const service = fields.table('service');
  const process = arrivals.choice('process', PROCESSES, 'poisson');
  const fleet = readFleet(fields.table('fleet'));
  const scenario: Omit<Scenario, 'inFlight'> = {
    name,
    title: fields.text('title'),
    measures,
    store: fields.choice('store', ['memory', 'redis'], 'memory'),
    instances: fields.number('instances', { ...WHOLE, max: 16 }, 1),
    sessions: fields.number('sessions', { ...WHOLE, max: 20_000 }, 100),
    peers: fields.choices('peers', PEER_NAMES, []),
    seconds: fields.number('seconds', { min: 0.1, max: 3_600 }, 5),
    mostRounds: fields.number('rounds', WHOLE, 100),
    waitMs: fields.number('wait_ms', { min: 0, max: 10_000, isWhole: true }, 0),
    fleet,
    arrivals: {
      process,
      // Decisions follow one another; nothing arrives.
      rate: arrivals.number('rate', { min: 0.001, max: 200_000 }, measures === 'decisions' ? 1 : undefined),
      burstSize: process === 'bursts' ? arrivals.number('burst_size', { min: 2, isWhole: true }) : 1,
    },
    service: {
      distribution: service.choice('distribution', DISTRIBUTIONS, 'fixed'),
      meanMs: service.number('mean_ms', { min: 0, max: 60_000 }, 0),
    },
    mix: readMix(fields.tables('mix'), fleet.languages),
    ...readVary(fields, measures),
    ...readSaturation(fields),
    thresholds: fields.tables('thresholds').map((each) => readThreshold(each, measures)),
  };
  // Unless declared, only jobs that end at once are repeated as fast as they end: others would take long.
  const inFlight = fields.number(
    'in_flight',
    { ...WHOLE, max: 10_000 },
    scenario.service.meanMs > 0 ? 0 : 64,
  );
  fields.end();
  const whole = { ...scenario, inFlight };
  agree(fields, whole);
  return whole;
}

function parsed(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (fault) {
    if (fault instanceof TomlError)
      throw new ScenarioError(file, `line ${fault.line}`, fault.message.split('\n')[0] ?? 'is no TOML');
    throw fault;
  }
}

function readFleet(fields: Fields): Fleet {
  const languages = fields.texts('languages', DEFAULT_LANGUAGES);
  if (languages.length < 2) fields.fail('languages', 'must be two or more');
  return {
    nodes: fields.number('nodes', { ...WHOLE, max: 200_000 }, 20),
    slots: fields.number('slots', { ...WHOLE, max: 10_000 }, 4),
    languages,
    languagesPerNode: fields.number(
      'languages_per_node',
      { min: 2, max: languages.length, isWhole: true },
      languages.length,
    ),
    heartbeatSeconds: fields.number('heartbeat_seconds', { min: 0.1, max: 30 }, 15),
    busy: fields.number('busy', { min: 0, max: 0.95 }, 0),
  };
}

function readMix(entries: readonly Fields[], languages: readonly string[]): readonly MixEntry[] {
  if (entries.length === 0) return [{ share: 1, tenant: 'default', priority: 'normal' }];
  return entries.map((fields) => ({
    share: fields.number('share', { min: 0.0001 }),
    tenant: fields.text('tenant', 'default'),
    priority: fields.choice('priority', PRIORITIES, 'normal'),
    ...readPair(fields, languages),
  }));
}

function readPair(fields: Fields, languages: readonly string[]): Pick<MixEntry, 'pair'> {
  if (!fields.has('source') && !fields.has('target')) return {};
  const source = fields.choice('source', languages);
  const target = fields.choice('target', languages);
  if (source === target) fields.fail('target', 'must be another language than source');
  return { pair: { source, target } };
}

function readVary(fields: Fields, measures: Measure): Pick<Scenario, 'vary'> {
  if (!fields.has('vary')) return {};
  const vary = fields.table('vary');
  const possible = (Object.keys(VARIED) as Varied[]).filter((field) =>
    (VARIED[field] as readonly Measure[]).includes(measures),
  );
  const field = vary.choice('field', possible);
  const values = vary.numbers('values', WHOLE);
  if (values.some((value, index) => value <= (values[index - 1] ?? 0)))
    vary.fail('values', 'must go up from one to the next');
  return { vary: { field, values } };
}

function readSaturation(fields: Fields): Pick<Scenario, 'saturation'> {
  if (!fields.has('saturation')) return {};
  const saturation = fields.table('saturation');
  return {
    saturation: {
      p99Ms: saturation.number('p99_ms', { min: 1 }, 50),
      from: saturation.number('from', { min: 1 }),
      seconds: saturation.number('seconds', { min: 0.2, max: 60 }, 2),
    },
  };
}

function readThreshold(fields: Fields, measures: Measure): Threshold {
  const figure = fields.choice('figure', FIGURE_IDS);
  if (!(FIGURES[figure].measures as readonly Measure[]).includes(measures))
    fields.fail('figure', `is not measured where ${measures} are`);
  return {
    figure,
    comparison: fields.choice('comparison', ['at_most', 'at_least']),
    target: fields.number('target', {}),
    ...(fields.has('against') && { against: fields.choice('against', PEER_NAMES) }),
    ...(fields.has('at') && { at: fields.number('at', WHOLE) }),
    ...(fields.has('over') && { over: fields.number('over', WHOLE) }),
  };
}

/** Checks of fields that depend on one another. */
function agree(fields: Fields, scenario: Scenario): void {
  const { measures, peers, store, service, vary, saturation } = scenario;
  const strange = peers.find((peer) => !(PEERS[peer].measures as readonly Measure[]).includes(measures));
  if (strange !== undefined) fields.fail('peers', `${strange} cannot be measured by ${measures}`);
  const onRedis = peers.find((peer) => peer === 'bullmq' || peer === 'evalsha');
  if (onRedis !== undefined && store !== 'redis') fields.fail('peers', `${onRedis} needs store = "redis"`);
  if (peers.includes('evalsha') && service.meanMs > 0)
    fields.fail('service.mean_ms', 'must be 0: evalsha has no nodes that take their time');
  if (store === 'redis' && (measures === 'decisions' || measures === 'sessions'))
    fields.fail('store', `${measures} are measured in memory`);
  const mostInstances = Math.max(scenario.instances, ...(vary?.field === 'instances' ? vary.values : []));
  if (mostInstances > 1 && (store !== 'redis' || measures !== 'requests'))
    fields.fail('instances', 'only requests, with store = "redis", may have more than one');
  if (saturation !== undefined && (measures === 'decisions' || vary !== undefined))
    fields.fail('saturation', 'needs arrivals, and one fleet only');
  scenario.thresholds.forEach((threshold, index) => {
    const place = `thresholds[${index}]`;
    const { figure, against, at, over } = threshold;
    if (against !== undefined && !peers.includes(against))
      fields.fail(`${place}.against`, `${against} is none of the peers`);
    for (const [name, value] of Object.entries({ at, over }))
      if (value !== undefined && !vary?.values.includes(value))
        fields.fail(`${place}.${name}`, `${value} is none of vary.values`);
    if (figure === 'saturation_per_second' && saturation === undefined)
      fields.fail(`${place}.figure`, 'needs a table [saturation]');
    if (figure === 'flood_per_second' && scenario.inFlight === 0)
      fields.fail(`${place}.figure`, 'needs in_flight, or service.mean_ms = 0');
  });
}
