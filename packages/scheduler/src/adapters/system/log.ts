/** Log lines through pino. */
import { pino } from 'pino';
import type { Log } from '../../ports/log.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** What may never reach a log, wherever it is nested one level deep. */
const SECRETS = [
  'token',
  'authorization',
  'resume_token',
  'audio',
  'tts_audio',
  'text_asr',
  'text_translated',
];

export function createLog(level: LogLevel, destination?: { write(line: string): void }): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRETS.flatMap((key) => [key, `*.${key}`]), censor: '(hidden)' },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
