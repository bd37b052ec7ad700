/** When audio is sent by reference, and with which address. */
import type { AddressInfo } from 'node:net';
import type { JobAssign } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { audioBaseUrl, createAudioReferences } from '../../../src/transport/link/audio-references.ts';

const open = (inlineMaxBytes: number, isShared = false) =>
  createAudioReferences({ tokens: { isShared, issue: (jobId) => `token of ${jobId}` }, inlineMaxBytes });

describe('audio reference', () => {
  it('a reference has the URL, token and length of the audio', () => {
    const references = open(0);
    references.serveAt('http://10.0.0.5:5010');
    expect(references.refer('job-1', Buffer.alloc(7))).toEqual({
      url: 'http://10.0.0.5:5010/v1/audio/job-1',
      token: 'token of job-1',
      bytes: 7,
    });
  });

  it('with a shared secret only the handed-over message has a token', () => {
    const references = open(0, true);
    references.serveAt('http://10.0.0.5:5010');
    const ref = references.refer('job-1', Buffer.alloc(7));
    expect(ref).toEqual({ url: 'http://10.0.0.5:5010/v1/audio/job-1', bytes: 7 });
    const message = { type: 'job_assign', job_id: 'job-1', audio_ref: ref } as unknown as JobAssign;
    expect(references.open(message).audio_ref).toEqual({ ...ref, token: 'token of job-1' });
  });

  it('an address that a client named gets no token', () => {
    const message = { job_id: 'job-1', audio_ref: { url: 'http://else/where' } } as unknown as JobAssign;
    expect(open(0, true).open(message)).toBe(message);
  });

  it('audio up to the inline limit gets no reference', () => {
    const references = open(100);
    references.serveAt('http://10.0.0.5:5010');
    expect(references.refer('job-1', Buffer.alloc(100))).toBeUndefined();
    expect(references.refer('job-1', Buffer.alloc(101))).toMatchObject({ bytes: 101 });
  });

  it("there are no references until this instance's address is known", () => {
    expect(open(0).refer('job-1', Buffer.alloc(7))).toBeUndefined();
  });

  it('references extend the path of the advertised address', () => {
    const references = open(0);
    references.serveAt('https://lingua.example/scheduler//');
    expect(references.refer('job-1', Buffer.alloc(1))?.url).toBe(
      'https://lingua.example/scheduler/v1/audio/job-1',
    );
  });
});

describe('base URL for nodes', () => {
  const at = (address: string, family = 'IPv4'): AddressInfo => ({ address, family, port: 5010 });

  it.each([
    ['https://lingua.example', at('0.0.0.0'), 'https://lingua.example'],
    ['https://lingua.example', at('127.0.0.1'), 'https://lingua.example'],
    [undefined, at('127.0.0.1'), 'http://127.0.0.1:5010'],
    [undefined, at('127.8.8.8'), 'http://127.8.8.8:5010'],
    [undefined, at('::1', 'IPv6'), 'http://[::1]:5010'],
    [undefined, at('0.0.0.0'), undefined],
    [undefined, at('::', 'IPv6'), undefined],
    [undefined, at('192.168.1.5'), undefined],
  ])('advertised %s, listening at %o: %s', (advertised, address, base) => {
    expect(audioBaseUrl(advertised, address)).toBe(base);
  });
});
