/** Simulation: the level of everything in an instance that must stay bounded, and its limit. */
import type { Config } from '../../../scheduler/dist/config/settings.js';
import type { Recorder } from '../history.ts';
import type { SimulatedInstance } from '../instance/simulated-instance.ts';
import type { SimulatedStore } from '../store/simulated-store.ts';

interface Level {
  readonly instance: string;
  readonly gauge: string;
  readonly value: number;
  readonly limit: number;
  /** How much of it may be left at the end of a run; absent: anything within the limit. */
  readonly atRest?: number;
}

export interface Levels {
  record(): void;
  /** Nothing is left that must be gone at rest. */
  areAtRest(): boolean;
}

/** As many as instances keep for others that do not answer. */
const MOST_HELD = 10_000;

export function createLevels(deps: {
  readonly recorder: Recorder;
  readonly config: Config;
  readonly instances: () => readonly SimulatedInstance[];
  /** How many there are when all instances live. */
  readonly places: number;
  readonly store: SimulatedStore | undefined;
}): Levels {
  const { recorder, config, store } = deps;

  function read(): Level[] {
    const instances = deps.instances();
    const levels: Level[] = instances.flatMap(({ machine, core, audioBytes }) =>
      levelsOf(core, audioBytes(), config).map((level) => ({ instance: machine.name, ...level })),
    );
    if (store === undefined) return levels;
    const { messages, liveLeases, liveJobs } = store.contents();
    const { max_inflight_jobs: inFlight, cluster } = config.scheduler;
    const stored = [
      // Includes those of dead instances, until another instance has taken them over.
      { gauge: 'letters', value: messages, limit: cluster.stream_maxlen * deps.places },
      // By then each instance may have died once.
      { gauge: 'live leases', value: liveLeases, limit: 2 * inFlight * deps.places },
      { gauge: 'live jobs', value: liveJobs, limit: 2 * inFlight * deps.places },
    ];
    return [...levels, ...stored.map((level) => ({ instance: 'store', ...level, atRest: 0 }))];
  }

  return {
    record() {
      for (const level of read()) recorder.record({ kind: 'sampled', ...level });
    },
    areAtRest: () => read().every(({ value, atRest }) => atRest === undefined || value <= atRest),
  };
}

function levelsOf(
  core: SimulatedInstance['core'],
  audioBytes: number,
  { scheduler }: Config,
): Omit<Level, 'instance'>[] {
  const { jobs, store, multiInstance, sessions } = core;
  const { bindings, retained } = store.levels();
  const none = { atRest: 0 };
  return [
    { gauge: 'jobs in flight', value: jobs.inFlight(), limit: scheduler.max_inflight_jobs, ...none },
    { gauge: 'jobs waiting', value: jobs.waiting(), limit: scheduler.max_inflight_jobs, ...none },
    { gauge: 'bytes of audio', value: audioBytes, limit: scheduler.audio.max_bytes_total, ...none },
    { gauge: 'bindings', value: bindings, limit: scheduler.task_binding.max_bindings },
    { gauge: 'jobs kept', value: retained, limit: scheduler.job_retention_max_count },
    {
      gauge: 'utterances followed',
      value: sessions.counts().watched,
      limit: scheduler.max_inflight_jobs,
      ...none,
    },
    ...(multiInstance === undefined
      ? []
      : [{ gauge: 'reports held', value: multiInstance.pending.size(), limit: MOST_HELD, ...none }]),
  ];
}
