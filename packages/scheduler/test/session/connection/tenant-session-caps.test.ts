/** The cap of sessions per tenant, and the exact count. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalTenancy } from '../../../src/domain/tenancy.ts';
import { createTenantSessionCaps } from '../../../src/session/connection/tenant-session-caps.ts';
import type { Session } from '../../../src/session/session.ts';
import { createRecordingLink } from '../support/recording-link.ts';
import { type Client, createSessionRig, opening } from '../support/session-rig.ts';

const capped = (maxSessions: number) => ({ tenancy: equalTenancy({ maxSessions }) });
const of = (tenantId: string) => opening({ tenantId });

describe('a tenant at its cap of sessions', () => {
  it('a tenant at its cap is refused; other tenants are not', () => {
    const { open, service } = createSessionRig(capped(2));
    for (const _ of [1, 2]) open(of('a'));
    const refused = service.open(of('a'), createRecordingLink());
    expect(refused).toMatchObject({ kind: 'full', limit: 'tenant' });
    expect(refused).toMatchObject({
      detail: expect.stringMatching(/tenant a may have 2 sessions \(max_sessions\).*close some/),
    });
    expect(service.capRefusal('a')).toMatchObject({ limit: 'tenant' });
    expect(service.capRefusal('b')).toBeUndefined();
    expect(open(of('b')).sessionId).toBeDefined();
  });

  it('a tenant at its cap loses only its own longest disconnected session', async () => {
    const { open, service, clock } = createSessionRig(capped(2));
    const other = open(of('b'));
    other.leave();
    await clock.advance(10);
    const [first, second] = [open(of('a')), open(of('a'))];
    first.leave();
    await clock.advance(10);
    second.leave();
    expect(service.capRefusal('a')).toBeUndefined();
    open(of('a'));
    expect(second.resume().sessionId).toBe(second.sessionId);
    expect(other.resume().sessionId).toBe(other.sessionId);
    expect(service.open(of('a'), createRecordingLink())).toMatchObject({ kind: 'full' });
  });

  it('a tenant at its cap can resume its sessions', () => {
    const { open } = createSessionRig(capped(1));
    const client = open(of('a'));
    client.leave();
    expect(client.resume().sessionId).toBe(client.sessionId);
  });

  it('a tenant may open a session after one is closed', async () => {
    const { open, clock } = createSessionRig(capped(1));
    const client = open(of('a'));
    client.send({ kind: 'close' });
    await clock.advance(1);
    expect(open(of('a')).sessionId).not.toBe(client.sessionId);
  });
});

describe('the count of sessions', () => {
  it('the count never exceeds the cap and returns to 0', async () => {
    const act = fc.record({
      kind: fc.constantFrom('open', 'open', 'leave', 'close', 'wait'),
      tenant: fc.nat(2),
      pick: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
        const { service, clock, open } = createSessionRig(capped(2));
        const clients: Client[] = [];
        for (const { kind, tenant, pick } of acts) {
          const client = clients[pick % Math.max(1, clients.length)];
          if (kind === 'open' && service.capRefusal(`t${tenant}`) === undefined)
            clients.push(open(of(`t${tenant}`)));
          else if (kind === 'wait') await clock.advance(pick * 5_000);
          else if (kind === 'leave') client?.leave();
          else if (kind === 'close') client?.send({ kind: 'close' });
          expect(service.counts().sessions).toBeLessThanOrEqual(6);
        }
        for (const client of clients) client.leave();
        await clock.advance(120_000);
        expect([service.counts().sessions, service.tenants()]).toEqual([0, 0]);
      }),
      { numRuns: 60 },
    );
  });

  it('I11 bounded: tenants beyond the limit share one count', () => {
    const caps = createTenantSessionCaps({
      ...capped(2),
      maxSessions: 100,
      maxResultBytes: 1_000,
      maxTenants: 1,
    });
    const session = (tenantId: string) => ({ tenantId }) as Session;
    const [a, b, c] = [session('a'), session('b'), session('c')];
    for (const each of [a, b, c]) caps.add(each);
    expect(caps.tenants()).toBe(1);
    expect(caps.isFull('d')).toBe(true);
    caps.disconnected(c);
    expect(caps.longestDisconnected('d')).toBe(c);
    caps.remove(a);
    caps.add(session('b'));
    for (const each of [b, c, c]) caps.remove(each);
    expect([caps.isBelowCap('b'), caps.tenants()]).toEqual([true, 1]);
  });

  it('without caps no sessions are counted', () => {
    const { open, service } = createSessionRig();
    open();
    expect(service.tenants()).toBe(0);
  });
});
