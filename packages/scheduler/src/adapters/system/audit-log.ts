/** The audit log as JSON lines in a file or on standard output, written in the background from a bounded buffer. */
import { once } from 'node:events';
import { type DestinationStream, pino } from 'pino';
import type { AuditEvent, AuditLog } from '../../ports/audit-log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import { UNPRINTABLE } from './log.ts';

export interface AuditFile extends AuditLog {
  /** Rejects if the file cannot be opened. */
  open(): Promise<void>;
  /** Opens the path again, after another program has renamed the file. */
  reopen(): void;
  /** Writes what is in the buffer, and closes the file. */
  close(): Promise<void>;
}

export interface AuditFileDeps {
  /** `stdout`, `off`, or a path. */
  readonly file: string;
  readonly instanceId: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly meter: Pick<Meter, 'count'>;
  readonly log: Pick<Log, 'error'>;
  /** Characters that wait for the disk; events above it are dropped and counted. */
  readonly maxBuffered?: number;
}

const MAX_BUFFERED = 4 * 1024 * 1024;
/** Ids have at most 128 characters; reasons of operators may be longer. */
const MAX_TEXT = 512;
const OWNER_ONLY = 0o600;
const STDOUT = 1;

export function createAuditLog(deps: AuditFileDeps): AuditFile {
  const { file, instanceId, clock, meter, log, maxBuffered = MAX_BUFFERED } = deps;
  let stream: ReturnType<typeof pino.destination> | undefined;

  function lineOf({ action, result, who, from, target, details }: AuditEvent): string {
    const time = new Date(clock.now()).toISOString();
    // `audit` comes first: it tells these lines from log lines on the same standard output.
    const event = { audit: action, time, instance_id: instanceId, result, who, from, target, ...details };
    const text = JSON.stringify(event, (_, value) =>
      typeof value === 'string' ? value.slice(0, MAX_TEXT) : value,
    );
    return `${text.replace(UNPRINTABLE, inJson)}\n`;
  }

  function start(): NonNullable<typeof stream> {
    const dest = file === 'stdout' ? STDOUT : file;
    const opened = pino.destination({
      dest,
      append: true,
      mode: OWNER_ONLY,
      sync: false,
      maxLength: maxBuffered,
    });
    opened.on('drop', () => meter.count('scheduler_audit_lost_total'));
    opened.on('error', (err: unknown) => {
      meter.count('scheduler_audit_write_failures_total');
      log.error({ err, file }, 'the audit log cannot be written');
    });
    return opened;
  }

  return {
    record(event) {
      if (file === 'off') return;
      if (stream === undefined) meter.count('scheduler_audit_lost_total');
      else stream.write(lineOf(event));
    },
    async open() {
      if (file === 'off' || stream !== undefined) return;
      const opened = start();
      if (file !== 'stdout') {
        try {
          await once(opened, 'ready');
        } catch (cause) {
          const why = cause instanceof Error ? cause.message : String(cause);
          throw new Error(`audit.file "${file}" cannot be opened for appending: ${why}`, { cause });
        }
      }
      stream = opened;
    },
    reopen() {
      if (file !== 'stdout') stream?.reopen();
    },
    async close() {
      const ending = stream;
      stream = undefined;
      if (ending === undefined) return;
      const ended = once(ending as DestinationStream & NodeJS.EventEmitter, 'close');
      ending.end();
      // Rejects if the last write fails, which the listener above has reported.
      await ended.catch(() => ending.destroy());
    },
  };
}

/** JSON leaves characters as they are that change what a reader of a terminal sees. */
const inJson = (sign: string): string =>
  sign
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
