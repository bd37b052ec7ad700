/** A behaviour file, TOML or JSON, to the mix of nodes it describes, or all its problems. Pure. */
import { parse as parseToml } from 'smol-toml';
import { type Behaviour, HEALTHY, type Latency, type Share, type SlowDeath } from './behaviour.ts';
import { createFields, type Fields } from './fields.ts';

export type BehaviourFile =
  | { readonly kind: 'mix'; readonly mix: readonly Share[] }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** One behaviour at the top level, or several as [[mix]] tables, each with its `share`. */
export function readBehaviour(text: string): BehaviourFile {
  const parsed = parse(text);
  if (typeof parsed === 'string') return { kind: 'invalid', problems: [parsed] };
  const problems: string[] = [];
  const file = createFields(parsed, '', problems);
  const mix = file.has('mix')
    ? file.tables('mix').map((fields) => ({
        share: fields.number('share', 1, { min: 0.001, max: 1_000_000 }),
        behaviour: behaviourOf(fields),
      }))
    : [{ share: 1, behaviour: behaviourOf(file) }];
  if (file.has('mix')) file.refuseOthers();
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'mix', mix };
}

/** The parsed value, or the problem. */
function parse(text: string): Record<string, unknown> | string {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : parseToml(text);
  } catch (error) {
    return `is neither TOML nor JSON: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
}

const RATE = { min: 0, max: 1 };
const TIME = { min: 0, max: 3_600_000 };
const COUNT = { min: 1, max: 1_000_000_000, isWhole: true };

function behaviourOf(fields: Fields): Behaviour {
  const rate = (name: string, usual: number): number => fields.number(name, usual, RATE);
  const latency = fields.table('latency');
  const slowDeath = fields.table('slow_death');
  const crashAfterJobs = fields.optionalNumber('crash_after_jobs', COUNT);
  const restartAfterMs = fields.optionalNumber('restart_after_ms', TIME);
  const behaviour: Behaviour = {
    latency: latency === undefined ? HEALTHY.latency : latencyOf(latency),
    failureRate: rate('failure_rate', HEALTHY.failureRate),
    failureCode: fields.text('failure_code', HEALTHY.failureCode),
    silenceRate: rate('silence_rate', HEALTHY.silenceRate),
    ackSilenceRate: rate('ack_silence_rate', HEALTHY.ackSilenceRate),
    lateRate: rate('late_rate', HEALTHY.lateRate),
    lateMs: fields.number('late_ms', HEALTHY.lateMs, TIME),
    duplicateRate: rate('duplicate_rate', HEALTHY.duplicateRate),
    modelNotAvailableRate: rate('model_not_available_rate', HEALTHY.modelNotAvailableRate),
    modelNotAvailableService: fields.text('service_id', HEALTHY.modelNotAvailableService),
    overloadRate: rate('overload_rate', HEALTHY.overloadRate),
    ttsMs: fields.number('tts_ms', HEALTHY.ttsMs, { min: 0, max: 60_000 }),
    isLegacy: fields.flag('legacy', HEALTHY.isLegacy),
    ...(slowDeath === undefined ? {} : { slowDeath: slowDeathOf(slowDeath) }),
    ...(crashAfterJobs === undefined ? {} : { crashAfterJobs }),
    ...(restartAfterMs === undefined ? {} : { restartAfterMs }),
  };
  fields.refuseOthers();
  return behaviour;
}

function latencyOf(fields: Fields): Latency {
  const time = (name: string): number => fields.number(name, undefined, TIME);
  const kind = fields.choice('kind', ['constant', 'uniform', 'lognormal', 'exponential']);
  const latency = ((): Latency => {
    switch (kind) {
      case 'uniform':
        return { kind, minMs: time('min_ms'), maxMs: time('max_ms') };
      case 'lognormal':
        return {
          kind,
          medianMs: fields.number('median_ms', undefined, { min: 0.1, max: TIME.max }),
          p99Ms: fields.number('p99_ms', undefined, { min: 0.1, max: TIME.max }),
        };
      case 'exponential':
        return { kind, meanMs: time('mean_ms') };
      default:
        return { kind: 'constant', ms: kind === undefined ? 0 : time('ms') };
    }
  })();
  if (latency.kind === 'uniform' && latency.minMs > latency.maxMs)
    fields.refuse('min_ms', 'must not exceed max_ms');
  if (latency.kind === 'lognormal' && latency.medianMs > latency.p99Ms)
    fields.refuse('median_ms', 'must not exceed p99_ms');
  // Without its kind the rest cannot be checked.
  if (kind !== undefined) fields.refuseOthers();
  return latency;
}

function slowDeathOf(fields: Fields): SlowDeath {
  const slowDeath = {
    afterJobs: fields.number('after_jobs', undefined, { ...COUNT, min: 0 }),
    factor: fields.number('factor', undefined, { min: 1, max: 1_000 }),
    silentAboveMs: fields.number('silent_above_ms', 60_000, TIME),
  };
  fields.refuseOthers();
  return slowDeath;
}
