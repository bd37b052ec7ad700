/** A contestant that takes jobs to their end inside this process: the engine, or one of its peers. */
import type { Job } from '../open-loop/job-mix.ts';

export interface JobTarget {
  /** One job to its end; false: it was refused. `left`: the job was sent to its worker. */
  run(job: Job, left: () => void): Promise<boolean>;
  /** A heartbeat of the node with this number; contestants without nodes have none. */
  beat(index: number): Promise<void>;
  /** Removes the remains of earlier jobs, outside of the measurement. */
  tidy(): Promise<void>;
}

/** A decision alone; the end of the job is not part of it. */
export interface DecisionTarget {
  /** Undefined: refused. */
  decide(job: Job): Promise<Decided | undefined>;
  end(decided: Decided): Promise<void>;
  beat(index: number): Promise<void>;
  /** Every node has just sent a heartbeat, whatever happened since the last round. */
  refresh(): Promise<void>;
  /** This many jobs are running, spread over the fleet, before anything is measured. */
  occupy(jobs: readonly Job[]): Promise<void>;
}

export interface Decided {
  readonly jobId: string;
  readonly nodeId: string;
}
