/** Credentials under watch: refusals are counted and audited, unknown tokens are throttled, new addresses are noticed. */
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/ports/audit-log.ts';
import { createGate } from '../../../src/transport/access/create-gate.ts';
import type { Role } from '../../../src/transport/access/gate.ts';
import { networkOf } from '../../../src/transport/access/networks.ts';
import { digestToken } from '../../../src/transport/access/tokens.ts';
import { watchCredentials } from '../../../src/transport/access/watch-credentials.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { OPEN } from '../http/start-server.ts';

const [GUESSER, OTHER, LOOPBACK] = ['203.0.113.7', '203.0.113.8', '127.0.0.1'];
const MAX_UNKNOWN = 5;

function rig() {
  const clock = createManualClock();
  const audited: AuditEvent[] = [];
  const counts = new Map<string, number>();
  const meter = {
    count: (_: string, { reason = '' } = {}) => void counts.set(reason, (counts.get(reason) ?? 0) + 1),
    gauge: () => {},
    observe: () => {},
  };
  const tokens = (['one', 'two'] as const).map((name) => ({
    sha256: digestToken(`token-${name}`),
    role: 'client' as const,
    tenantId: 'acme',
    name,
  }));
  const gate = watchCredentials(createGate({ clock, meter, settings: { ...OPEN, tokens } }), {
    clock,
    meter,
    audit: { record: (event) => audited.push(event) },
    maxUnknownPerMinute: MAX_UNKNOWN,
  });
  const send = (token: string | undefined, address: string, role: Role = 'client') => {
    const admission = gate.admit({ address, token }, [role]);
    if (admission instanceof Promise) throw new Error('a promise was returned');
    return admission.kind === 'admitted' ? 'admitted' : admission.code;
  };
  const guess = (address: string, count: number) =>
    Array.from({ length: count }, (_, index) => send(`guess-${index}`, address));
  return { clock, audited, counts, gate, send, guess };
}

describe('unknown tokens', () => {
  it('are throttled per address after their budget, and again allowed later', async () => {
    const { clock, guess, send, counts } = rig();
    expect(guess(GUESSER, 7)).toEqual([
      ...Array(MAX_UNKNOWN).fill('UNAUTHORIZED'),
      'RATE_LIMITED',
      'RATE_LIMITED',
    ]);
    expect(send('guess', OTHER)).toBe('UNAUTHORIZED');
    await clock.advance(60_000);
    expect(guess(GUESSER, 1)).toEqual(['UNAUTHORIZED']);
    expect(Object.fromEntries(counts)).toEqual({ unknown: MAX_UNKNOWN + 2, throttled: 2 });
  });

  it.each([GUESSER, LOOPBACK])(
    'lock out no valid token of the same address %s, also a new one',
    (address) => {
      const { guess, send } = rig();
      send('token-one', address);
      expect(guess(address, 20)).toContain('RATE_LIMITED');
      expect([send('token-one', address), send('token-two', address)]).toEqual(['admitted', 'admitted']);
      expect(send('guess', address)).toBe('RATE_LIMITED');
    },
  );

  it('of one IPv6 network have one budget', () => {
    const { send } = rig();
    const answers = Array.from({ length: 7 }, (_, index) => send('guess', `2001:db8:0:1::${index + 1}`));
    expect(answers.filter((answer) => answer === 'RATE_LIMITED')).toHaveLength(2);
    expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8:0:0:1:2:3:4'));
    expect(networkOf('::ffff:10.0.0.7')).toBe('10.0.0.7');
  });

  it('a token without the role is no guess', () => {
    const { send, counts } = rig();
    for (let count = 0; count < 20; count += 1) send('token-one', GUESSER, 'operator');
    expect(send('token-two', GUESSER)).toBe('admitted');
    expect(Object.fromEntries(counts)).toEqual({ role: 20 });
  });
});

describe('the audit log of credentials', () => {
  it('has the first refusal of an address in a minute, then their number', async () => {
    const { clock, guess, audited } = rig();
    guess(GUESSER, 20);
    const line = { action: 'refuseCredential', result: 'refused', who: 'unknown', from: GUESSER };
    expect(audited).toEqual([{ ...line, details: { reason: 'unknown' } }]);
    await clock.advance(60_000);
    expect(audited.slice(1)).toEqual([{ ...line, details: { reason: 'unknown', count: 19 } }]);
    expect(JSON.stringify(audited)).not.toContain('guess-');
  });

  it('has few lines, however many addresses send unknown tokens', async () => {
    const { clock, send, audited } = rig();
    for (let index = 0; index < 5_000; index += 1) send('guess', `10.0.${index >> 8}.${index & 255}`);
    await clock.advance(60_000);
    expect(audited.length).toBeLessThan(250);
    const counted = audited.reduce((sum, { details }) => sum + Number(details?.count ?? 1), 0);
    expect(counted).toBe(5_000);
  });

  it('has the first use of a token in a flood of unknown ones, from the same network or others', () => {
    for (const address of [GUESSER, '2001:db8::1', '198.51.100.1']) {
      const { send, audited } = rig();
      for (let index = 0; index < 300; index += 1) {
        send('guess', `2001:db8:0:${index.toString(16)}::${index}`);
        send('guess', `2001:db8::${index}`);
        send('guess', GUESSER);
      }
      send('token-one', address);
      expect(audited.at(-1)).toMatchObject({ action: 'useNewAddress', who: 'one', from: address });
      send('token-one', address, 'operator');
      expect(audited.at(-1)).toMatchObject({ action: 'refuseCredential', who: 'one', from: address });
    }
  });

  it('has the first use of a token, however often another one is used from new networks', () => {
    const { send, audited } = rig();
    for (let index = 0; index < 15_000; index += 1) send('token-two', `10.0.${index >> 8}.${index & 255}`);
    send('token-one', GUESSER);
    expect(audited.at(-1)).toMatchObject({ action: 'useNewAddress', who: 'one', from: GUESSER });
    expect(audited.length).toBeLessThan(250);
  });

  it('has one line for the addresses of one IPv6 network', () => {
    const { send, audited } = rig();
    for (let index = 1; index < 50; index += 1) {
      send('guess', `2001:db8::${index}`);
      send('token-one', `2001:db8::${index}`);
    }
    expect(audited.map(({ action }) => action)).toEqual(['refuseCredential', 'useNewAddress']);
  });

  it('names the token that lacks a role', () => {
    const { send, audited } = rig();
    send('token-one', GUESSER, 'operator');
    expect(audited).toMatchObject([{ action: 'refuseCredential', who: 'one', details: { reason: 'role' } }]);
  });

  it('has the first use of a token from each address', () => {
    const { send, audited } = rig();
    for (const address of [GUESSER, GUESSER, OTHER, GUESSER]) send('token-one', address);
    expect(audited.map(({ action, who, from }) => [action, who, from])).toEqual([
      ['useNewAddress', 'one', GUESSER],
      ['useNewAddress', 'one', OTHER],
    ]);
  });

  it('gets the counts of the running minute when the server stops', () => {
    const { gate, guess, audited } = rig();
    guess(GUESSER, 3);
    gate.stop();
    expect(audited.at(-1)).toMatchObject({ details: { count: 2 } });
  });
});
