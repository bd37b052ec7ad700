/** Simulation: how much of everything an instance has that must not grow without end, and how much it may have. */
import type { Config } from '../../config/settings.ts';
import type { Recorder } from '../history.ts';
import type { SimulatedInstance } from '../instance/simulated-instance.ts';
import type { SimulatedStore } from '../store/simulated-store.ts';

interface Level {
  readonly gauge: string;
  readonly value: number;
  readonly limit: number;
  /** How much may be left when everything is quiet; absent: whatever is within the limit. */
  readonly atRest?: number;
}

/** As many as instances hold for others that do not answer (jobs-of-many.ts). */
const MOST_HELD = 10_000;

export function sampleLevels(deps: {
  readonly recorder: Recorder;
  readonly config: Config;
  readonly instances: readonly SimulatedInstance[];
  readonly store: SimulatedStore | undefined;
}): void {
  const { recorder, config, instances, store } = deps;
  for (const { machine, core, audioBytes } of instances) {
    for (const level of levelsOf(core, audioBytes(), config))
      recorder.record({ kind: 'sampled', instance: machine.name, ...level });
  }
  if (store === undefined) return;
  const { letters } = store.contents();
  const limit = config.scheduler.phase2.stream_maxlen * instances.length;
  recorder.record({ kind: 'sampled', instance: 'store', gauge: 'letters', value: letters, limit, atRest: 0 });
}

function levelsOf(core: SimulatedInstance['core'], audioBytes: number, { scheduler }: Config): Level[] {
  const { jobs, store, together, sessions } = core;
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
    ...(together === undefined
      ? []
      : [{ gauge: 'answers held', value: together.held.size(), limit: MOST_HELD, ...none }]),
  ];
}
