/** The audit log in a file: appended, for its owner only, reopened, bounded. */
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createAuditLog } from '../../../src/adapters/system/audit-log.ts';
import type { AuditEvent } from '../../../src/ports/audit-log.ts';
import { auditLogContract } from '../../contracts/audit-log.ts';
import { eventually } from '../../support/eventually.ts';

const EVENT: AuditEvent = { action: 'drainNode', result: 'done', who: 'ann', target: 'node-1' };

async function open(file?: string, maxBuffered?: number) {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-audit-'));
  const path = file ?? join(folder, 'audit.jsonl');
  const counts = new Map<string, number>();
  const faults: unknown[] = [];
  const audit = createAuditLog({
    file: path,
    instanceId: 'instance-a',
    clock: { now: () => Date.UTC(2026, 10, 18) },
    meter: { count: (name) => void counts.set(name, (counts.get(name) ?? 0) + 1) },
    log: { error: (fields) => void faults.push(fields) },
    ...(maxBuffered !== undefined && { maxBuffered }),
  });
  const close = async () => {
    await audit.close();
    await rm(folder, { recursive: true, force: true });
  };
  const linesOf = async (at = path) => (await readFile(at, 'utf8')).split('\n').filter((line) => line !== '');
  return { audit, path, folder, counts, faults, close, linesOf };
}

auditLogContract('a file', async () => {
  const { audit, close, linesOf } = await open();
  await audit.open();
  return {
    audit,
    close,
    kept: async () => {
      await audit.close();
      return (await linesOf()).map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  };
});

async function opened(maxBuffered?: number) {
  const rig = await open(undefined, maxBuffered);
  onTestFinished(rig.close);
  await rig.audit.open();
  return rig;
}

it('appends to a file that exists, and creates one for its owner only', async () => {
  const { audit, path, linesOf, close, ...rest } = await open();
  onTestFinished(close);
  await audit.open();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await audit.close();
  await writeFile(path, 'an earlier line\n');
  await audit.open();
  audit.record(EVENT);
  await audit.close();
  expect(await linesOf()).toEqual(['an earlier line', expect.stringMatching(/^\{"audit":"drainNode"/)]);
  expect(rest.faults).toEqual([]);
});

it('writes to a new file after the old one was renamed and it was reopened', async () => {
  const { audit, path, linesOf } = await opened();
  audit.record(EVENT);
  await eventually(async () => (await linesOf()).length === 1);
  await rename(path, `${path}.1`);
  audit.reopen();
  await eventually(() => stat(path));
  audit.record({ ...EVENT, target: 'node-2' });
  await audit.close();
  expect([await linesOf(`${path}.1`), await linesOf()]).toMatchObject([
    [expect.stringContaining('node-1')],
    [expect.stringContaining('node-2')],
  ]);
});

it('drops and counts events above its buffer', async () => {
  const { audit, counts, linesOf } = await opened(1_000);
  for (let count = 0; count < 50; count += 1) audit.record(EVENT);
  await audit.close();
  const written = (await linesOf()).length;
  expect(written).toBeGreaterThan(0);
  expect(counts.get('scheduler_audit_lost_total')).toBe(50 - written);
});

it('a full disk is counted and reported, and closing still ends', async () => {
  const { audit, counts, faults, close } = await open('/dev/full');
  onTestFinished(close);
  await audit.open();
  audit.record(EVENT);
  await eventually(() => faults.length > 0);
  await audit.close();
  expect(counts.get('scheduler_audit_write_failures_total')).toBeGreaterThan(0);
});

it('a file that cannot be opened is refused with its setting and path', async () => {
  const { audit, close } = await open('/nowhere/audit.jsonl');
  onTestFinished(close);
  await expect(audit.open()).rejects.toThrow(
    /audit\.file "\/nowhere\/audit\.jsonl" cannot be opened.*ENOENT/,
  );
});

it('a reason cannot change what a terminal shows of its line', async () => {
  const { audit, linesOf } = await opened();
  const reason = 'a\u001b[2K\u009b\u202eb\u2028c\u{e0001}';
  audit.record({ ...EVENT, details: { reason } });
  await audit.close();
  const [line = ''] = await linesOf();
  expect(line).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(line)).toMatchObject({ reason });
});

it('off: nothing is written or counted', async () => {
  const { audit, counts, close } = await open('off');
  onTestFinished(close);
  await audit.open();
  audit.record(EVENT);
  await audit.close();
  expect(counts.size).toBe(0);
});
