import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNetworks, isLoopbackAddress } from '../../../src/transport/access/networks.ts';
import { isOwnHost, isOwnPage } from '../../../src/transport/access/request-origin.ts';

describe('networks', () => {
  it.each([
    ['10.0.0.0/8', '10.255.1.2', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '::FFFF:10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:a01:203', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['192.168.1.7', '192.168.1.7', true],
    ['192.168.1.7', '192.168.1.8', false],
    ['fd00::/8', 'fd12:3456::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
  ])('%s and %s: %s', (network, address, isInside) => {
    expect(createNetworks([network]).includes(address)).toBe(isInside);
  });

  it('an invalid network is refused at start', () => {
    for (const bad of ['', 'localhost', '10.0.0.0/33', '10.0.0.0/8/9', '10.0.0.0/x', '::1/129', '10.0.0/8']) {
      expect(() => createNetworks([bad])).toThrow('is not a network');
    }
  });

  it('text that is not an address is in no network', () => {
    const all = createNetworks(['0.0.0.0/0', '::/0']);
    for (const text of ['', 'localhost', '10.0.0.1:80', '300.1.1.1']) expect(all.includes(text)).toBe(false);
  });

  it('a list without entries is empty', () => {
    const none = createNetworks([]);
    expect(none.isEmpty).toBe(true);
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => !none.includes(address)));
  });

  it('an IPv4 address and its IPv6-mapped form are treated alike', () => {
    const networks = createNetworks(['10.0.0.0/8', '172.16.0.0/12', '127.0.0.1']);
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(networks.includes(`::ffff:${address}`)).toBe(networks.includes(address));
      }),
    );
  });
});

describe('host of a request without a token', () => {
  const allowed = new Set(['speech.example']);

  it.each([
    'localhost',
    'LOCALHOST:5010',
    'localhost.',
    '127.0.0.1',
    '10.0.0.1:5010',
    '[::1]',
    '[2001:db8::1]:5010',
    'speech.example',
    'Speech.Example.:443',
  ])('%s is accepted', (host) => expect(isOwnHost(host, allowed)).toBe(true));

  it.each([
    undefined,
    '',
    'evil.example',
    'evil.example:5010',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'speech.example.evil.example',
    '127.1',
    '[evil.example]',
    '::1',
    'localhost:5010:1',
    'localhost@evil.example',
    'localhost/evil.example',
  ])('%s is refused', (host) => expect(isOwnHost(host, allowed)).toBe(false));
});

describe('page of a request without a token', () => {
  const listed = new Set(['https://app.example', 'chrome-extension://ours']);

  it.each([
    ['http://localhost:9001', 'localhost:5010'],
    ['https://speech.example', 'speech.example:443'],
    ['http://[::1]:9001', '[::1]:5010'],
    ['https://app.example', 'localhost'],
    ['chrome-extension://ours', 'localhost'],
  ])('%s may act on %s', (origin, host) => expect(isOwnPage(origin, host, listed)).toBe(true));

  it.each([
    ['https://evil.example', 'localhost'],
    ['null', 'localhost'],
    ['null', 'null'],
    ['http://localhost.evil.example', 'localhost'],
    ['https://app.example.evil.example', 'localhost'],
    ['https://app.example:444', 'localhost'],
    ['http://', 'localhost'],
    ['file://', 'localhost'],
    ['file://localhost', 'localhost'],
    ['chrome-extension://other', 'localhost'],
    ['moz-extension://localhost', 'localhost'],
    ['localhost', 'localhost'],
    ['', 'localhost'],
  ])('%s may not act on %s', (origin, host) => expect(isOwnPage(origin, host, listed)).toBe(false));
});

describe('loopback addresses', () => {
  it('loopback addresses of both families are recognised', () => {
    expect(['127.0.0.1', '::1', '::ffff:127.0.0.1'].every(isLoopbackAddress)).toBe(true);
    expect(['128.0.0.1', '::2', 'localhost'].some(isLoopbackAddress)).toBe(false);
  });
});
