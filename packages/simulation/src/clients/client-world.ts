/** Simulation: what a simulated client uses of its environment. */

import type { JobRecord } from '../../../scheduler/dist/domain/job.js';
import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import type { DeliveredResult, Recorder } from '../history.ts';
import type { SimulatedInstance } from '../instance/simulated-instance.ts';
import type { WireEnd } from '../net/wire.ts';
import { readResult } from '../stamped-text.ts';

export interface ClientWorld {
  readonly recorder: Recorder;
  /** Opens a session's connection to one of the instances. */
  dial(machine: Machine, opened: (end?: WireEnd) => void): void;
  /** Sends a request to one of the instances, as over HTTP. `undefined`: no answer. */
  ask<T>(
    machine: Machine,
    limitMs: number,
    run: (instance: SimulatedInstance) => Promise<T>,
  ): Promise<{ answer: T; instance: string } | undefined>;
}

export interface ClientDeps {
  readonly machine: Machine;
  readonly world: ClientWorld;
  readonly chance: Chance;
  readonly tenant: string;
  /** The strict pool to which its tenant is confined. */
  readonly pool?: string | undefined;
  readonly languages: readonly [string, string];
  /** Prefix of its request ids: unique within its tenant only. */
  readonly requests: string;
  readonly perSecond: number;
}

export interface SimulatedClient {
  readonly machine: Machine;
  /** It sends no new requests. */
  stop(): void;
  /** Each of its requests has an outcome, or the client has abandoned it. */
  isDone(): boolean;
  /** How many requests it made. */
  asked(): number;
}

/** Poisson arrivals: the time of the next one is independent of the last. */
export const nextArrivalMs = (chance: Chance, perSecond: number): number =>
  Math.min(5_000, (-Math.log(1 - chance()) * 1_000) / perSecond);

/** The result in a job's record, as its client receives it. */
export function resultOf({ result }: JobRecord): DeliveredResult | undefined {
  return (
    result &&
    readResult({
      text_asr: result.textAsr,
      text_translated: result.textTranslated,
      tts_audio: result.ttsAudio,
    })
  );
}
