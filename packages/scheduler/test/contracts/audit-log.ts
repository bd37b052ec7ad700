/** Contract of AuditLog: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { AuditEvent, AuditLog } from '../../src/ports/audit-log.ts';
import { type Closable, fresh, perTest, times } from './harness.ts';

export interface AuditLogHarness extends Closable {
  readonly audit: AuditLog;
  /** Everything that is kept, oldest first; each has `time` and `instance_id` besides the recorded fields. */
  kept(): Promise<readonly Record<string, unknown>[]>;
}

export function auditLogContract(name: string, open: () => Promise<AuditLogHarness>): void {
  describe(`AuditLog: ${name}`, () => {
    const start = perTest(open);

    it('keeps who, what, when, from where and the result', async () => {
      const { audit, kept } = await start();
      const target = fresh('node');
      const details = { status: 404, reason: 'new driver', absent: undefined };
      audit.record({ action: 'drainNode', result: 'refused', who: 'ann', from: '10.0.0.7', target, details });
      const [event] = await kept();
      expect(event).toEqual({
        audit: 'drainNode',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        instance_id: expect.any(String),
        result: 'refused',
        who: 'ann',
        from: '10.0.0.7',
        target,
        status: 404,
        reason: 'new driver',
      });
    });

    it('keeps events in their order', async () => {
      const { audit, kept } = await start();
      const targets = times(500, (index) => `node-${index}`);
      for (const target of targets) audit.record({ action: 'drainNode', result: 'done', who: 'ann', target });
      expect((await kept()).map(({ target }) => target)).toEqual(targets);
    });

    it('a text cannot forge an event', async () => {
      const { audit, kept } = await start();
      const target = 'x"}\n{"audit":"forged","who":"ann"}\n';
      audit.record({ action: 'drainNode', result: 'done', who: 'eve', target });
      expect(await kept()).toMatchObject([{ audit: 'drainNode', who: 'eve', target }]);
    });

    it('cuts long texts', async () => {
      const { audit, kept } = await start();
      const event: AuditEvent = { action: 'drainNode', result: 'done', who: 'ann' };
      audit.record({ ...event, target: 'x'.repeat(100_000) });
      const [{ target } = {}] = await kept();
      expect(String(target).length).toBeLessThan(1_000);
    });
  });
}
