/** Simulation: what a client finds in the world around it. */

import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import type { Recorder } from '../history.ts';
import type { SimulatedInstance } from '../instance/simulated-instance.ts';
import type { WireEnd } from '../net/wire.ts';

export interface ClientWorld {
  readonly recorder: Recorder;
  /** Connects a session to some instance. */
  dial(machine: Machine, opened: (end?: WireEnd) => void): void;
  /** Asks some instance, as over HTTP. `undefined`: no answer. */
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
  /** What its requests are called: unique within its tenant, and no more. */
  readonly requests: string;
  readonly perSecond: number;
}

export interface SimulatedClient {
  readonly machine: Machine;
  /** Says nothing new. */
  stop(): void;
  /** Everything it said has its outcome, or it has given up. */
  isDone(): boolean;
  /** How many requests it made. */
  asked(): number;
}

/** Arrivals as of many people: the next one does not know of the last. */
export const nextArrivalMs = (chance: Chance, perSecond: number): number =>
  Math.min(5_000, (-Math.log(1 - chance()) * 1_000) / perSecond);
