/** Hot path: who drives the jobs that nodes of this instance work on, as their assignments said. The store knows better, but has to be asked. */
import type { Answer } from '../domain/answer.ts';
import { instanceOf } from '../domain/driver-name.ts';
import type { JobId } from '../domain/ids.ts';

/** More jobs than the nodes of one instance work on at a time; the oldest is forgotten first. */
const MOST_NOTED = 50_000;

export interface DriverBook {
  /** `driver`: "instance/incarnation". */
  note(jobId: JobId, driver: string): void;
  find(jobId: JobId): string | undefined;
  /** Its driver was told that a node has it, and may die before it has written that down. */
  acknowledged(answer: Answer): void;
  /** What those drivers were told so, once. */
  acknowledgedTo(instanceIds: readonly string[]): readonly Answer[];
  forget(jobId: JobId): void;
  size(): number;
}

interface Entry {
  readonly driver: string;
  acknowledgement?: Answer | undefined;
}

export function createDriverBook(): DriverBook {
  const entries = new Map<JobId, Entry>();
  return {
    note(jobId, driver) {
      entries.set(jobId, { driver });
      const [oldest] = entries.keys();
      if (entries.size > MOST_NOTED && oldest !== undefined) entries.delete(oldest);
    },
    find: (jobId) => entries.get(jobId)?.driver,
    acknowledged(answer) {
      const entry = entries.get(answer.jobId);
      if (entry !== undefined) entry.acknowledgement = answer;
    },
    acknowledgedTo(instanceIds) {
      const found: Answer[] = [];
      for (const entry of instanceIds.length === 0 ? [] : entries.values()) {
        const { driver, acknowledgement } = entry;
        if (acknowledgement === undefined || !instanceIds.includes(instanceOf(driver))) continue;
        entry.acknowledgement = undefined;
        found.push(acknowledgement);
      }
      return found;
    },
    forget: (jobId) => void entries.delete(jobId),
    size: () => entries.size,
  };
}
