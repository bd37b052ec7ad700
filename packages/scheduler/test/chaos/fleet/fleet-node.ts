/** What the harness can do to any node of the fleet, however it talks to the scheduler. */
import type { Recorder } from '../../../src/simulation/history.ts';
import type { Backend } from '../rig/balancer.ts';
import type { Temper } from './hands.ts';

export interface FleetNode {
  readonly name: string;
  /** The network breaks; the node does not. */
  cut(): void;
  /** The process dies without a word. */
  kill(): void;
  /** A new process in its place. */
  restart(): Promise<void>;
  /** For good; the run is over. */
  stop(): Promise<void> | void;
}

export interface FleetNodeOptions {
  readonly name: string;
  readonly slots: number;
  readonly recorder: Recorder;
  readonly temper: Temper;
  /** Whom to connect to, best first. */
  readonly backends: () => readonly Backend[];
}
