/** Admission by the names in a client certificate. */
import { expect, it } from 'vitest';
import { alternativeNames } from '../../../src/transport/access/client-certificate.ts';
import { createGate } from '../../../src/transport/access/create-gate.ts';
import { digestToken } from '../../../src/transport/access/tokens.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { GUARDED } from './settings.ts';

const NAME = 'gpu-1.example';
const meter = { count() {}, gauge() {}, observe() {} };
const gate = createGate({
  clock: createManualClock(),
  meter,
  settings: {
    ...GUARDED,
    anonymous: ['node'],
    tokens: [
      ...GUARDED.tokens,
      {
        sha256: digestToken(`certificate ${NAME}`),
        certificate: NAME,
        role: 'node',
        nodeIds: ['node-1'],
        tenantId: 'acme',
        name: 'first GPU',
      },
    ],
  },
});
const PEER = { address: '127.0.0.1', host: 'localhost' };

it('a name of the certificate gives the role, tenant and node ids of its row', async () => {
  const admission = await gate.admit({ ...PEER, certificateNames: ['other', 'GPU-1.example'] }, ['node']);
  if (admission.kind !== 'admitted') throw new Error(admission.message);
  const { principal } = admission;
  expect(principal).toMatchObject({
    role: 'node',
    tenantId: 'acme',
    isAnonymous: false,
    tokenName: 'first GPU',
  });
  expect([gate.mayUseNode(principal, 'node-1'), gate.mayUseNode(principal, 'node-2')]).toEqual([true, false]);
});

it('an unknown or invalid certificate never falls back to anonymous', () => {
  expect(gate.admit(PEER, ['node'])).toMatchObject({ kind: 'admitted' });
  for (const certificateNames of [[], ['stranger.example']])
    expect(gate.admit({ ...PEER, certificateNames }, ['node'])).toMatchObject({ code: 'UNAUTHORIZED' });
});

it('a certificate may act only in its role', () => {
  const peer = { ...PEER, certificateNames: [NAME] };
  expect(gate.admit(peer, ['client'])).toMatchObject({ code: 'FORBIDDEN' });
});

it('a foreign page cannot use the certificate of its reader', () => {
  const peer = { ...PEER, certificateNames: [NAME], origin: 'https://evil.example' };
  expect(gate.admit(peer, ['node'])).toMatchObject({ code: 'FORBIDDEN' });
});

it('the name of a certificate is no token', () => {
  for (const token of [NAME, `certificate ${NAME}`, digestToken(`certificate ${NAME}`)])
    expect(gate.admit({ ...PEER, token }, ['node'])).toMatchObject({ code: 'UNAUTHORIZED' });
});

it.each([
  ['DNS:a.example, DNS:b.example', ['a.example', 'b.example']],
  ['URI:spiffe://cluster/node-1, IP Address:127.0.0.1', ['spiffe://cluster/node-1']],
  ['DNS:"evil, DNS:gpu-1.example", DNS:a.example', ['a.example']],
  ['DNS:"a\\", DNS:gpu-1.example, DNS:\\"b"', []],
  ['email:DNS:gpu-1.example', []],
  ['', []],
])('the alternative names in %s are read', (text, names) => {
  expect(alternativeNames(text)).toEqual(names);
});
