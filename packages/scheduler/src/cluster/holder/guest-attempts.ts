/**
 * Hot path: attempts on nodes of this instance whose jobs others drive, counted by whoever sees first how they go. That one was placed
 * is counted as it is handed to its node; that it went well, as its result leaves for its driver. The driver is told so with what it
 * gets anyway, and need not say it. Whatever else there is to say its driver knows better: what failed, what proves nothing, what was
 * heard past this instance.
 */

import type { JobId, NodeId } from '../../domain/ids.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import { ANY_ATTEMPT, type ReportedAttempt } from '../../domain/node-report.ts';
import type { ServiceUse } from '../../domain/service-use.ts';
import type { Clock } from '../../ports/clock.ts';
import type { NodeReport } from './node-report.ts';

export interface Guest {
  readonly jobId: JobId;
  readonly nodeId: NodeId;
  readonly attempt: number;
  readonly use: ServiceUse;
}

export interface GuestAttempts {
  placed(guest: Guest): void;
  /** What a node said, as it leaves for its driver: marked, if it is counted here as a success. */
  marked(report: NodeReport): NodeReport;
  /** It has left. */
  left(report: NodeReport): void;
  /** Its driver gave it up: what its node still says of it proves nothing. */
  withdrawn(nodeId: NodeId, jobId: JobId): void;
  size(): number;
}

/** As many as the nodes of one instance work on at a time; the oldest is forgotten first, and is for its driver to count. */
const MOST_NOTED = 50_000;

export function createGuestAttempts(deps: {
  clock: Clock;
  /** As long as a job may last: of one whose node says its last word elsewhere nothing more is heard here. */
  keepMs: number;
  recordPlacement: (nodeId: NodeId, use: ServiceUse) => void;
  recordSuccess: (nodeId: NodeId, use: ServiceUse) => void;
}): GuestAttempts {
  const { clock, keepMs } = deps;
  /** In the order in which they were placed. */
  const guests = new Map<string, Guest & { readonly placedAt: number }>();

  function forgetOld(): void {
    const now = clock.now();
    for (const [name, { placedAt }] of guests) {
      if (guests.size <= MOST_NOTED && now - placedAt < keepMs) return;
      guests.delete(name);
    }
  }

  function find({ nodeId, jobId, attempt }: ReportedAttempt): Guest | undefined {
    const guest = guests.get(nameOf(nodeId, jobId));
    return attempt === ANY_ATTEMPT || attempt === guest?.attempt ? guest : undefined;
  }

  return {
    placed(guest) {
      const name = nameOf(guest.nodeId, guest.jobId);
      guests.delete(name);
      guests.set(name, { ...guest, placedAt: clock.now() });
      forgetOld();
      deps.recordPlacement(guest.nodeId, guest.use);
    },
    marked(report) {
      const { answer } = report;
      if (report.say !== 'finished' || isUntranslated(report.result) || find(answer) === undefined)
        return report;
      return { ...report, answer: { ...answer, isCounted: true } };
    },
    left({ say, answer }) {
      if (say === 'acknowledged') return;
      const guest = find(answer);
      if (guest === undefined) return;
      guests.delete(nameOf(guest.nodeId, guest.jobId));
      if (answer.isCounted === true) deps.recordSuccess(guest.nodeId, guest.use);
    },
    withdrawn: (nodeId, jobId) => void guests.delete(nameOf(nodeId, jobId)),
    size() {
      forgetOld();
      return guests.size;
    },
  };
}

/** Whether that is all that was wanted, its driver knows. */
const isUntranslated = ({ textAsr, textTranslated }: JobResult): boolean =>
  textAsr !== '' && textTranslated === '';

/** A job may be on two nodes of one instance, one of which was given up. */
const nameOf = (nodeId: NodeId, jobId: JobId): string => `${jobId}@${nodeId}`;
