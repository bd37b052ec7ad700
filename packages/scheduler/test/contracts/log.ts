/** Contract of Log: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { Log } from '../../src/ports/log.ts';
import { type Closable, fresh, perTest } from './harness.ts';

export interface LogHarness extends Closable {
  readonly log: Log;
  /** Everything written so far, one text per line of the log. */
  lines(): readonly string[];
}

/** From the lowest level up. */
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

const SECRET_FIELDS = [
  'token',
  'authorization',
  'resume_token',
  'audio',
  'tts_audio',
  'text_asr',
  'text_translated',
];

export function logContract(name: string, open: (level: Level) => Promise<LogHarness>): void {
  describe(`Log: ${name}`, () => {
    const start = perTest(open);

    it.each(LEVELS)('at %s, writes lines of that level and above, and no others', async (level) => {
      const { log, lines } = await start(level);
      const messages = LEVELS.map((each) => ({ each, message: fresh(each) }));
      for (const { each, message } of messages) log[each]({}, message);
      const expected = messages.slice(LEVELS.indexOf(level));
      expect(lines()).toHaveLength(expected.length);
      for (const [at, { each, message }] of expected.entries()) {
        expect(lines()[at]).toContain(message);
        expect(lines()[at]).toContain(each);
      }
    });

    it('writes message and fields in one line', async () => {
      const { log, lines } = await start('info');
      log.info({ job_id: 'job-7', attempt_id: 2, reason: 'two\nlines', nothing: undefined }, 'a job failed');
      const [line = ''] = lines();
      expect(lines()).toHaveLength(1);
      for (const part of ['a job failed', 'job_id', 'job-7', 'attempt_id', '2', 'reason'])
        expect(line).toContain(part);
      expect(line).toMatch(/\n$/);
    });

    it('writes an error with its message', async () => {
      const { log, lines } = await start('info');
      log.error({ err: new Error('the store is down') }, 'a move failed');
      expect(lines().join('')).toContain('the store is down');
    });

    it('accepts fields that cannot be serialised', async () => {
      const { log, lines } = await start('info');
      const circle: Record<string, unknown> = { name: 'circle' };
      circle.self = circle;
      log.warn({ circle }, 'a circle');
      log.warn({ call: () => undefined, sign: Symbol('s') }, 'a function');
      expect(lines()).toHaveLength(2);
    });

    it.each(SECRET_FIELDS)('never shows %s, also nested one level, at any level', async (field) => {
      const { log, lines } = await start('debug');
      const secret = fresh('secret');
      for (const level of LEVELS) log[level]({ [field]: secret, peer: { [field]: secret } }, 'x');
      expect(lines()).toHaveLength(LEVELS.length);
      expect(lines().join('')).not.toContain(secret);
    });

    it('hides only the secret and does not change the given object', async () => {
      const { log, lines } = await start('info');
      const fields = { token: 'do-not-show', node_id: 'node-a' };
      log.info(fields, 'a node came');
      expect(lines().join('')).toContain('node-a');
      expect(fields).toEqual({ token: 'do-not-show', node_id: 'node-a' });
    });
  });
}
