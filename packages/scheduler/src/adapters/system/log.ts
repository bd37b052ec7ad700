/** Log lines by pino. */
import { pino } from 'pino';
import type { Log } from '../../ports/log.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Fields that must never reach a log, also nested one level deep. */
const SECRETS = [
  'token',
  'authorization',
  'resume_token',
  'audio',
  'tts_audio',
  'text_asr',
  'text_translated',
];

export interface LogOptions {
  /** Written in every line. */
  readonly instanceId?: string;
  /** Readable text instead of JSON. */
  readonly isPretty?: boolean;
  /** Default: standard output. */
  readonly destination?: { write(line: string): void };
}

export function createLog(level: LogLevel, options: LogOptions = {}): Log {
  const { isPretty = false, destination, instanceId } = options;
  const settings = {
    level,
    base: instanceId === undefined ? null : { instance_id: instanceId },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRETS.flatMap((key) => [key, `*.${key}`]), censor: '(hidden)' },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const sink = destination ?? (isPretty ? process.stdout : undefined);
  if (sink === undefined) return pino(settings);
  return pino(settings, isPretty ? { write: (line) => sink.write(prettyLine(line)) } : sink);
}

/** 12:00:00.000 info  a job failed  job_id=job-1 reason=JOB_TIMEOUT */
function prettyLine(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(fields).map(([key, value]) => `${key}=${prettyValue(value)}`);
  const parts = [String(time).slice(11, 23), String(level).padEnd(5), msg, ' ', ...details];
  return `${parts.join(' ').trimEnd().replace(UNPRINTABLE, escaped)}\n`;
}

/** Quoted where it could look like a further field. */
const prettyValue = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);

/** Ids and texts come from clients and nodes. These characters end a line, control a terminal, or change what a reader sees: control, format (direction, zero width), line and paragraph separators, halves of pairs. */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const escaped = (sign: string): string => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
