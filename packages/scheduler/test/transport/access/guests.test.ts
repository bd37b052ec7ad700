/** R6: the token of a guest opens one room, and nothing else of its tenant. */
import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { holderOfClaims } from '../../../src/transport/access/token-holders.ts';
import { guestRefusal } from '../../../src/transport/access/token-scope.ts';

const guest = { room: { roomId: 'room-1', role: 'listener' } } as const;

it('R6: a guest is refused where guests have no part, and in other rooms', () => {
  expect(guestRefusal(guest, { isForGuests: false })).toMatchObject({ field: '' });
  expect(guestRefusal(guest, { isForGuests: true, roomId: 'room-2' })).toMatchObject({
    field: '/id',
    message: 'this token opens only the room room-1',
  });
  expect(guestRefusal(guest, { isForGuests: true, roomId: 'room-1' })).toBeUndefined();
  expect(guestRefusal(guest, { isForGuests: true })).toBeUndefined();
  expect(guestRefusal({ sessionId: 's' }, { isForGuests: false })).toBeUndefined();
  expect(guestRefusal(undefined, { isForGuests: false })).toBeUndefined();
});

it('the room of a minted token is the scope of its holder, with a folded language', () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const claims = {
    sub: 'guest-1',
    role: 'client' as const,
    tenant_id: 'acme',
    room: { room_id: 'room-1', role: 'interpreter' as const, language: 'pt-BR' },
    jti: '1',
    iat: 1,
    exp: 2,
  };
  expect(holderOfClaims(claims, publicKey).principals.client.scope).toEqual({
    room: { roomId: 'room-1', role: 'interpreter', language: 'pt' },
  });
});
