/** A node with an authority and a certificate of its own: its socket is tested against the scheduler, its audio here. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { certify } from '../../../../proof/src/attacks/certify.ts';
import { jobAudio } from '../../src/node/audio.ts';
import { createNode, type NodeOptions } from '../../src/node/index.ts';

/** Answers every request with the name in the certificate of its client. */
async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [own, client] = await Promise.all([certify(folder, 'server'), certify(folder, 'gpu-1.test')]);
  const read = (file: string): Buffer => readFileSync(file);
  const settings = { cert: read(own.certificate), key: read(own.key), ca: read(client.certificate) };
  const server = createServer({ ...settings, requestCert: true }, (request, response) =>
    response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const tls = { ca: settings.cert, cert: read(client.certificate), key: read(client.key) };
  return { url: `wss://127.0.0.1:${(server.address() as AddressInfo).port}/ws/node`, tls };
}

it('referenced audio is fetched with the authority and the certificate of the node', async () => {
  const { url, tls } = await startServer();
  const job = { audio: '', audio_ref: { url: '/v1/audio/1', token: 'one-job' } };
  const rules = { schedulerUrl: url, maxBytes: 100, timeoutMs: 10_000 };
  const { signal } = new AbortController();
  expect((await jobAudio(job, { ...rules, tls }, signal)).toString()).toBe('gpu-1.test');
  await expect(jobAudio(job, rules, signal)).rejects.toThrow('self-signed certificate');
});

it('tls without wss:// or with half a certificate is refused at once', () => {
  const options: NodeOptions = {
    url: 'wss://127.0.0.1:1/ws/node',
    maxConcurrentJobs: 1,
    capabilities: {},
    onJob: () => ({}),
  };
  expect(() => createNode({ ...options, tls: { cert: 'x' } })).toThrow('tls.cert and tls.key');
  expect(() => createNode({ ...options, url: 'ws://127.0.0.1:1/ws/node', tls: { ca: 'x' } })).toThrow(
    'wss://',
  );
});
