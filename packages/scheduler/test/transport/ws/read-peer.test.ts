import { describe, expect, it } from 'vitest';
import { readPeer } from '../../../src/transport/ws/read-peer.ts';

describe('peer of an upgrade request', () => {
  const read = (url: string | undefined, headers: Record<string, string> = {}) =>
    readPeer({ url, headers, socket: {} } as never, () => '10.0.0.1');

  it.each([
    ['/ws/node?token=abc', {}, '/ws/node', 'abc'],
    ['/ws/node?a=1&token=a%20b', {}, '/ws/node', 'a b'],
    ['/ws/node?token=query', { authorization: 'Bearer header' }, '/ws/node', 'header'],
    ['/ws/node', { authorization: 'bearer  header ' }, '/ws/node', 'header'],
    ['/ws/node', { authorization: 'Basic dXNlcg==' }, '/ws/node', 'Basic dXNlcg=='],
    ['/ws/node?token=', {}, '/ws/node', undefined],
    ['/ws/node?', {}, '/ws/node', undefined],
    ['/ws/node', { authorization: '' }, '/ws/node', ''],
    ['%', {}, '%', undefined],
    [undefined, {}, '/', undefined],
  ])('the peer is read from %s and %o', (url, headers, path, token) => {
    const found = read(url, headers);
    expect(found.path).toBe(path);
    expect(found.peer.token).toBe(token);
    expect(found.peer.address).toBe('10.0.0.1');
  });
});
