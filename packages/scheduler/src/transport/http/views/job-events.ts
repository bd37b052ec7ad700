/** Streams the moves and partial texts of one job as server-sent events. Bounded in time by the job's deadline, and in unread bytes. */
import { Readable } from 'node:stream';
import { isSettled, type JobRecord, type TimelineEntry } from '../../../domain/job.ts';
import type { PartialText } from '../../../domain/node-report.ts';
import type { HttpServices } from '../server/http-services.ts';
import { viewJob } from './job-view.ts';

/** The id of the event with the job's outcome. */
export const LAST_EVENT_ID = 'end';

const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** The stream ends when the job is settled; this limit is for records that vanish without a notice. */
const GRACE_AFTER_DEADLINE_MS = 5_000;

type Services = Pick<HttpServices, 'reader' | 'clock' | 'settings'>;

/** Undefined: there are too many subscribers. */
export async function openJobEvents(
  services: Services,
  job: JobRecord,
  signal: AbortSignal,
): Promise<Readable | undefined> {
  const { reader, clock, settings } = services;
  const stream = new Readable({ read: () => {} });
  /** Moves received before the present state was read and sent. */
  let early: JobRecord[] | undefined = [];
  let sent: JobRecord | undefined;
  let isEnded = false;

  function write(text: string): void {
    // A client that does not read is disconnected; after a reconnect it gets the present state. A single event may
    // have any size.
    if (stream.readableLength > MAX_UNREAD_BYTES) stream.destroy();
    else if (!isEnded && !stream.destroyed) stream.push(text);
  }

  function end(): void {
    if (!isEnded && !stream.destroyed) stream.push(null);
    isEnded = true;
  }

  function send(moved: JobRecord): void {
    // A notice may repeat the state that was read first.
    if (isEnded || (sent !== undefined && !isNewer(moved, sent))) return;
    sent = moved;
    const id = isSettled(moved.state) ? LAST_EVENT_ID : moved.state;
    write(`id: ${id}\nevent: job\ndata: ${JSON.stringify(viewJob(moved))}\n\n`);
    if (isSettled(moved.state)) end();
  }

  /** The texts of an abandoned attempt are not sent. */
  function sendPartial({ jobId, nodeId, text, isFinal }: PartialText): void {
    const current = sent?.fence ?? sent?.intent;
    if (isEnded || current?.nodeId !== nodeId) return;
    write(`event: partial\ndata: ${JSON.stringify({ job_id: jobId, text, is_final: isFinal })}\n\n`);
  }

  const subscription = reader.watch(
    job.jobId,
    (moved) => {
      if (early === undefined) send(moved);
      else early.push(moved);
    },
    sendPartial,
  );
  if (subscription.kind === 'full') return undefined;

  const beat = () => {
    write(': still here\n\n');
    cancelBeat = clock.after(settings.eventHeartbeatMs, beat);
  };
  let cancelBeat = clock.after(settings.eventHeartbeatMs, beat);
  const cancelEnd = clock.after(Math.max(0, job.deadlineAt - clock.now()) + GRACE_AFTER_DEADLINE_MS, end);
  signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => {
    subscription.stop();
    cancelBeat();
    cancelEnd();
    signal.removeEventListener('abort', end);
  });

  try {
    send((await reader.get(job.jobId)) ?? job);
  } catch (cause) {
    stream.destroy();
    throw cause;
  }
  for (const moved of early) send(moved);
  early = undefined;
  if (signal.aborted) end();
  return stream;
}

/** Whether the first record is a later state of the job than the second. Timelines only grow at the end. */
export function isNewer(moved: JobRecord, than: JobRecord): boolean {
  const last = moved.timeline.at(-1);
  const known = than.timeline.at(-1);
  if (last === undefined || known === undefined) return last !== undefined;
  if (isSame(last, known)) return false;
  return last.at > known.at || (last.at === known.at && moved.timeline.some((entry) => isSame(entry, known)));
}

const isSame = (a: TimelineEntry, b: TimelineEntry): boolean =>
  a.state === b.state && a.at === b.at && a.attempt === b.attempt && a.nodeId === b.nodeId;
