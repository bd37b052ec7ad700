/** The address of a client behind proxies: only trusted proxies may name another one. */
import { expect, it } from 'vitest';
import { createAddressOf } from '../../../src/transport/access/peer-address.ts';

const addressOf = (own: string, forwarded?: string) =>
  createAddressOf(['10.0.0.0/8', 'fd00::/8'])({
    socket: { remoteAddress: own },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as never);

it.each([
  ['a stranger stands for itself', '9.9.9.9', '1.2.3.4', '9.9.9.9'],
  ['a proxy names its client', '10.0.0.1', '1.2.3.4', '1.2.3.4'],
  ['an address that a client invented is ignored', '10.0.0.1', '127.0.0.1, 1.2.3.4', '1.2.3.4'],
  ['proxies in a row are skipped', '10.0.0.1', '127.0.0.1, 1.2.3.4, 10.0.0.7, fd00::5', '1.2.3.4'],
  ['a proxy without the header stands for itself', '10.0.0.1', undefined, '10.0.0.1'],
  ['garbage is no address', '10.0.0.1', '1.2.3.4, unknown', '10.0.0.1'],
  ['garbage before a proxy is no address', '10.0.0.1', '<script>, 10.0.0.7', '10.0.0.7'],
  ['a port is dropped', '10.0.0.1', '1.2.3.4:5678', '1.2.3.4'],
  ['a port after brackets is dropped', '::ffff:10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
  ['a chain of proxies only ends at the first', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
])('%s', (_name, own, forwarded, expected) => {
  expect(addressOf(own, forwarded)).toBe(expected);
});

it('without trusted proxies the header has no effect', () => {
  const request = { socket: { remoteAddress: '10.0.0.1' }, headers: { 'x-forwarded-for': '127.0.0.1' } };
  expect(createAddressOf([])(request as never)).toBe('10.0.0.1');
});
