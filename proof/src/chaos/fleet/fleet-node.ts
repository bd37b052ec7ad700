/** What the harness can do to any node of the fleet, however it is connected to the scheduler. */
import type { Stage } from '../../../../packages/scheduler/dist/domain/stage.js';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import type { Tenant } from '../tenants.ts';
import type { Backend } from '../wire/balancer.ts';
import type { Brake } from './brake.ts';
import type { NodeProcess, Temper } from './node-process.ts';

export interface FleetNode {
  readonly name: string;
  /** The network breaks; the node does not. */
  cut(): void;
  /** Its network is slow, or stops if the delay is infinite. */
  delay(ms: number): void;
  /** The process is killed. */
  kill(): void;
  /** A new process in its place. */
  restart(): Promise<void>;
  /** For good; the run is over. */
  stop(): Promise<void> | void;
}

export interface FleetNodeOptions {
  readonly name: string;
  readonly slots: number;
  /** It takes jobs of these stages, and text as input; absent: it takes whole jobs only. */
  readonly stages?: readonly Stage[];
  /** The owner of its pool; absent: there are no pools and no credentials. */
  readonly owner?: Tenant;
  readonly recorder: Recorder;
  readonly temper: Temper;
  /** Absent: nothing is ever held. */
  readonly brake?: Brake;
  /** Which instances to connect to, best first. */
  readonly backends: () => readonly Backend[];
}

/** Only nodes that take single stages know it. */
export const LANGUAGE_OF_STAGES = 'es';

/** Those that all jobs require, and the one that makes the node a member of its owner's pool. */
export const languagesOf = ({
  owner,
  stages,
}: Pick<FleetNodeOptions, 'owner' | 'stages'>): readonly string[] => [
  'en',
  'zh',
  ...(stages === undefined ? [] : [LANGUAGE_OF_STAGES]),
  ...(owner === undefined ? [] : [owner.language]),
];

/** What the scheduler sends over a node's socket is recorded when it arrives, whatever the node then does with it. */
export const onReceived =
  (nodeProcess: () => NodeProcess) =>
  (text: string, instance: string): void => {
    if (!text.includes('"job_')) return;
    const frame = JSON.parse(text) as { type: string; job_id: string; attempt_id: number };
    if (frame.type === 'job_assign') nodeProcess().assigned(frame.job_id, frame.attempt_id, instance);
    else if (frame.type === 'job_cancel') nodeProcess().cancelled(frame.job_id);
  };
