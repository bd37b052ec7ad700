/** The keys of a behaviour file, for the help of `lingua simulate`. Pure. */
import { HEALTHY, NAMED_BEHAVIOURS } from './behaviour.ts';

const usual = HEALTHY.latency.kind === 'lognormal' ? HEALTHY.latency : undefined;

export const BEHAVIOUR_NAMES = Object.keys(NAMED_BEHAVIOURS).join(', ');

export const BEHAVIOUR_USAGE = `A behaviour file is TOML or JSON. Every key is optional; the default is that of healthy nodes. Rates are from 0 to 1, per job.

  failure_rate               answers that the job failed (${HEALTHY.failureRate})
  failure_code               the code of these failures (${HEALTHY.failureCode})
  silence_rate               takes the job and never answers (${HEALTHY.silenceRate})
  ack_silence_rate           never acknowledges, but answers (${HEALTHY.ackSilenceRate})
  late_rate                  answers after late_ms, even if the job was cancelled (${HEALTHY.lateRate})
  late_ms                    (${HEALTHY.lateMs})
  duplicate_rate             answers twice (${HEALTHY.duplicateRate})
  model_not_available_rate   answers MODEL_NOT_AVAILABLE for service_id (${HEALTHY.modelNotAvailableRate})
  service_id                 (${HEALTHY.modelNotAvailableService})
  overload_rate              answers that it has no free slot although it has (${HEALTHY.overloadRate})
  crash_after_jobs           the job of this number cuts the connection instead of being answered (never)
  restart_after_ms           time from a crash to the restart (no restart)
  tts_ms                     length of the spoken answer (${HEALTHY.ttsMs})
  legacy                     true: behaves like a legacy node instead of one built with the SDK (${HEALTHY.isLegacy})

  [latency]                  how long a job takes (lognormal, ${usual?.medianMs} and ${usual?.p99Ms})
  kind                       constant with ms; uniform with min_ms and max_ms; lognormal with median_ms and p99_ms;
                             exponential with mean_ms

  [slow_death]               each job takes longer than the one before, until it answers no more (not at all)
  after_jobs                 so many jobs are as usual
  factor                     each one after them takes so many times as long
  silent_above_ms            no answers from there on (60000)

  [[mix]]                    instead of all this: several behaviours, each with all of the keys above
  share                      how many of the nodes have it, in proportion to the others (1)

One node in ten fails half of its jobs, the others are healthy but slow:

  [[mix]]
  share = 9
  latency = { kind = "uniform", min_ms = 800, max_ms = 2000 }

  [[mix]]
  failure_rate = 0.5`;
