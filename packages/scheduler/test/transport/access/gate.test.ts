import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Meter } from '../../../src/ports/meter.ts';
import { type AccessSettings, createGate } from '../../../src/transport/access/create-gate.ts';
import type { Admission, Gate, Peer, Role } from '../../../src/transport/access/gate.ts';
import { createTokenTable, digestToken } from '../../../src/transport/access/tokens.ts';
import { GUARDED } from './settings.ts';

const meter: Meter = { count: () => {}, gauge: () => {}, observe: () => {} };

/** Configured tokens and anonymous peers are admitted at once. */
function admitNow(gate: Gate, peer: Peer, roles: readonly Role[]): Admission {
  const admission = gate.admit(peer, roles);
  if (admission instanceof Promise) throw new Error('a promise was returned');
  return admission;
}

function gateWith(
  change: Partial<AccessSettings> = {},
  clock = { now: () => 0, precise: () => 0, after: () => () => {} },
): Gate {
  return createGate({ clock, meter, settings: { ...GUARDED, ...change } });
}

const LOCAL: Peer = { address: '127.0.0.1', host: 'localhost:5010' };
const REMOTE: Peer = { address: '203.0.113.9', host: 'scheduler.example' };
const ROLES: readonly Role[] = ['node', 'client', 'operator'];

/** `admitted`, or the error code, for each role. */
const verdicts = (gate: Gate, peer: Peer) =>
  ROLES.map((role) => {
    const admission = admitNow(gate, peer, [role]);
    return admission.kind === 'admitted' ? 'admitted' : admission.code;
  });

function admitted(gate: Gate, peer: Peer, role: Role) {
  const admission = admitNow(gate, peer, [role]);
  if (admission.kind !== 'admitted') throw new Error(admission.message);
  return admission.principal;
}

const YES = 'admitted';
const NO = 'UNAUTHORIZED';
const NOT_THAT = 'FORBIDDEN';

describe('gate with tokens', () => {
  it.each([
    ['node-token', [YES, NOT_THAT, NOT_THAT]],
    ['pinned-token', [YES, NOT_THAT, NOT_THAT]],
    ['acme-token', [NOT_THAT, YES, NOT_THAT]],
    ['operator-token', [YES, YES, YES]],
    ['wrong-token', [NO, NO, NO]],
    ['', [NO, NO, NO]],
  ])('%s as node, client, operator: %s', (token, expected) => {
    expect(verdicts(gateWith(), { ...REMOTE, token })).toEqual(expected);
    expect(verdicts(gateWith(), { ...LOCAL, token })).toEqual(expected);
  });

  it('a peer without a token is refused unless anonymous roles are configured', () => {
    expect(verdicts(gateWith(), LOCAL)).toEqual([NO, NO, NO]);
    expect(verdicts(gateWith({ anonymous: ['session'] }), LOCAL)).toEqual([NO, YES, NO]);
    expect(verdicts(gateWith({ anonymous: ['session', 'node'] }), LOCAL)).toEqual([YES, YES, NO]);
    expect(verdicts(gateWith({ anonymous: ['operator'] }), LOCAL)).toEqual([NO, NO, YES]);
  });

  it('anonymous roles apply to trusted networks only', () => {
    const gate = gateWith({ anonymous: ['session', 'node', 'operator'], trustedNetworks: ['10.0.0.0/8'] });
    expect(verdicts(gate, { address: '10.1.2.3', host: '10.0.0.1' })).toEqual([YES, YES, YES]);
    expect(verdicts(gate, { address: '::ffff:10.1.2.3', host: '10.0.0.1' })).toEqual([YES, YES, YES]);
    expect(verdicts(gate, LOCAL)).toEqual([NO, NO, NO]);
    expect(verdicts(gate, REMOTE)).toEqual([NO, NO, NO]);
  });

  it('a wrong token never falls back to anonymous', () => {
    const gate = gateWith({ anonymous: ['session', 'node', 'operator'] });
    expect(verdicts(gate, { ...LOCAL, token: 'wrong' })).toEqual([NO, NO, NO]);
  });

  it('a principal holds the digest of its token, never the token', () => {
    const principal = admitted(gateWith(), { ...REMOTE, token: 'acme-token' }, 'client');
    expect(principal).toMatchObject({ role: 'client', tenantId: 'acme', isAnonymous: false });
    expect(JSON.stringify(principal)).not.toContain('acme-token');
    expect(principal.credential).not.toBe(digestToken('acme-token'));
  });
});

describe('anonymous viewers', () => {
  it('an anonymous client that may also view cannot name a tenant with tokens', () => {
    const gate = gateWith({ anonymous: ['session', 'viewer'] });
    expect(gate.tenantOf(admitted(gate, LOCAL, 'client'), 'acme').kind).toBe('forbidden');
    expect(gate.tenantOf(admitted(gate, LOCAL, 'viewer'), 'acme').kind).toBe('tenant');
  });

  it('an anonymous client cannot name a tenant that has only minted tokens', () => {
    const key = createSecretKey(Buffer.alloc(32, 'k'));
    const keys = [{ id: 'one', algorithm: 'HS256', verifies: key, signs: key } as const];
    const gate = gateWith({ anonymous: ['session'], tokens: [], keys });
    expect(gate.tenantOf(admitted(gate, LOCAL, 'client'), 'acme').kind).toBe('forbidden');
    expect(gate.tenantOf(admitted(gate, LOCAL, 'client'), undefined).kind).toBe('tenant');
    const withoutKeys = gateWith({ anonymous: ['session'], tokens: [] });
    expect(withoutKeys.tenantOf(admitted(withoutKeys, LOCAL, 'client'), 'acme').kind).toBe('tenant');
  });

  it('an anonymous operator views and reads metrics, but is no admin', () => {
    const gate = gateWith({ anonymous: ['operator'] });
    for (const role of ['viewer', 'metrics'] as const)
      expect(admitNow(gate, LOCAL, [role]).kind).toBe('admitted');
    expect(admitNow(gate, LOCAL, ['admin']).kind).toBe('refused');
  });
});

describe('gate without tokens and anonymous roles', () => {
  const open = gateWith({ tokens: [] });

  it('a peer on this machine may act in every role', () => {
    expect(verdicts(open, LOCAL)).toEqual([YES, YES, YES]);
    expect(verdicts(open, { address: '::1', host: '[::1]:5010' })).toEqual([YES, YES, YES]);
  });

  it('a peer on another machine is refused', () => {
    expect(verdicts(open, REMOTE)).toEqual([NO, NO, NO]);
    expect(verdicts(open, { ...REMOTE, host: 'localhost' })).toEqual([NO, NO, NO]);
  });

  it('a foreign Host header is refused, against DNS rebinding', () => {
    expect(verdicts(open, { address: '127.0.0.1', host: 'evil.example' })).toEqual([
      NOT_THAT,
      NOT_THAT,
      NOT_THAT,
    ]);
    expect(verdicts(open, { address: '127.0.0.1' })).toEqual([NOT_THAT, NOT_THAT, NOT_THAT]);
  });

  it('any token is refused when none is configured', () => {
    expect(verdicts(open, { ...LOCAL, token: 'any' })).toEqual([NO, NO, NO]);
  });

  it('configured anonymous roles are the only ones', () => {
    const gate = gateWith({ tokens: [], anonymous: ['session', 'node'], trustedNetworks: ['10.0.0.0/8'] });
    expect(verdicts(gate, { address: '10.0.0.5', host: '10.0.0.1:5010' })).toEqual([YES, YES, NO]);
  });
});

describe('DNS rebinding with server.anonymous', () => {
  const gate = gateWith({
    anonymous: ['session'],
    allowedHosts: ['gpu-box'],
    allowedOrigins: ['https://app.example'],
  });
  const verdict = (peer: Peer) => {
    const admission = admitNow(gate, peer, ['client']);
    return admission.kind === 'admitted' ? YES : admission.code;
  };

  it('a Host header that names another server is refused without a token', () => {
    expect(verdict({ address: '127.0.0.1', host: 'gpu-box:5010' })).toBe(YES);
    expect(verdict({ address: '127.0.0.1', host: 'evil.example:5010' })).toBe('FORBIDDEN');
    // The browser takes the page for same-origin, because DNS points its name here.
    const rebound = { address: '127.0.0.1', host: 'evil.example', origin: 'http://evil.example' };
    expect(verdict(rebound)).toBe('FORBIDDEN');
  });

  it('a page of another host is refused without a token, unless listed', () => {
    const from = (origin: string) => verdict({ ...LOCAL, origin });
    expect(from('http://localhost:9001')).toBe(YES);
    expect(from('https://app.example')).toBe(YES);
    expect(from('https://evil.example')).toBe('FORBIDDEN');
    expect(from('null')).toBe('FORBIDDEN');
    expect(verdict({ ...LOCAL, fetchSite: 'cross-site' })).toBe('FORBIDDEN');
  });

  it('with a token neither Host nor Origin is checked', () => {
    const peer = { ...REMOTE, host: 'any.example', origin: 'https://evil.example', token: 'acme-token' };
    expect(verdict(peer)).toBe(YES);
  });
});

describe('tenant of a peer', () => {
  const gate = gateWith({ anonymous: ['session'] });

  it('a token fixes the tenant, and naming another one is refused', () => {
    const acme = admitted(gate, { ...REMOTE, token: 'acme-token' }, 'client');
    expect(gate.tenantOf(acme, undefined)).toEqual({ kind: 'tenant', tenantId: 'acme' });
    expect(gate.tenantOf(acme, 'acme')).toEqual({ kind: 'tenant', tenantId: 'acme' });
    expect(gate.tenantOf(acme, 'globex').kind).toBe('forbidden');
    expect(gate.tenantOf(acme, 'default').kind).toBe('forbidden');
  });

  it('an anonymous peer may name a tenant that has no tokens', () => {
    const peer_ = admitted(gate, LOCAL, 'client');
    expect(gate.tenantOf(peer_, undefined)).toEqual({ kind: 'tenant', tenantId: 'default' });
    expect(gate.tenantOf(peer_, 'club')).toEqual({ kind: 'tenant', tenantId: 'club' });
    expect(gate.tenantOf(peer_, 'acme').kind).toBe('forbidden');
  });

  it('an operator may name any tenant', () => {
    const operator = admitted(gate, { ...REMOTE, token: 'operator-token' }, 'client');
    expect(gate.tenantOf(operator, 'acme')).toEqual({ kind: 'tenant', tenantId: 'acme' });
  });
});

describe('node ids of a peer', () => {
  const gate = gateWith({ anonymous: ['node'] });
  it.each([
    ['pinned-token', 'node', 'node-1', true],
    ['pinned-token', 'node', 'node-2', false],
    ['node-token', 'node', 'node-2', true],
    ['operator-token', 'operator', 'node-2', true],
    ['acme-token', 'client', 'node-1', false],
  ] as const)('%s as %s uses %s: %s', (token, role, nodeId, isAllowed) => {
    expect(gate.mayUseNode(admitted(gate, { ...REMOTE, token }, role), nodeId)).toBe(isAllowed);
  });

  it('127.0.0.1 and ::1 are the same anonymous peer', () => {
    const four = admitted(gate, LOCAL, 'node');
    const six = admitted(gate, { ...LOCAL, address: '::1' }, 'node');
    expect(four.credential).toBe(six.credential);
    const trusting = gateWith({ anonymous: ['node'], trustedNetworks: ['0.0.0.0/0'] });
    const other = admitted(trusting, { ...LOCAL, address: '10.0.0.1' }, 'node');
    expect(other.credential).not.toBe(four.credential);
  });
});

describe('budgets of the gate', () => {
  it('each connection has its own message budget', () => {
    const gate = gateWith();
    const one = gate.openMessageBudget();
    const spent = [1, 2, 3, 4, 5].map(() => one.spend());
    expect(spent).toEqual([true, true, true, true, false]);
    expect(gate.openMessageBudget().spend()).toBe(true);
  });

  it('nodes are counted without a tenant', () => {
    const gate = gateWith();
    const node = admitted(gate, { ...REMOTE, token: 'node-token' }, 'node');
    const kinds = [1, 2, 3, 4].map(() => gate.enter(node, '203.0.113.9').kind);
    expect(kinds).toEqual(['entered', 'entered', 'entered', 'full']);
  });

  it("a refusal names the tenant's or the global limit", () => {
    const gate = gateWith();
    const kinds = [1, 2, 3, 4].map(() => gate.spend('acme').kind);
    expect(kinds).toEqual(['ok', 'ok', 'ok', 'limited']);
    expect(gate.spend(undefined).kind).toBe('ok');
  });
});

describe('token table', () => {
  it('every configured token is found, and no other', () => {
    const tokens = ['a', 'b', 'c'];
    const entries = tokens.map((token) => ({
      sha256: digestToken(token),
      role: 'node' as const,
      name: token,
    }));
    const table = createTokenTable(entries, ({ name }) => name);
    for (const token of tokens) expect(table.find(token)).toBe(token);
    for (const token of ['', 'd', 'aa', digestToken('a')]) expect(table.find(token)).toBeUndefined();
  });

  it('an invalid digest is refused', () => {
    expect(() => createTokenTable([{ sha256: 'abc', role: 'node' }], () => 1)).toThrow('64 hexadecimal');
  });
});
