/** TLS in the process: HTTP, sockets, client certificates of nodes, and new certificates without a restart. */
import { copyFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { certify } from '../support/certify.ts';
import { eventually } from '../support/eventually.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { asClient, ask, dial, serving, upgrade } from './support/secured.ts';
import { startApp } from './support/start-app.ts';

const NODE = { node_id: 'node-1', health: 'ready', semantic_langs: ['en', 'zh'], max_concurrent_jobs: 2 };
const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: 'AAAA' };

it('HTTP and sockets are encrypted with TLS 1.2 or newer, and with nothing else', async () => {
  const server = await certify();
  const app = await startApp(serving(server));
  const client = asClient(server);
  expect((await ask(`${app.url}/health`, client)).status).toBe(200);
  expect(await upgrade(app.nodeUrl, client)).toBe('open');
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    expect((await dial(app.url, { ...client, maxVersion: version })).getProtocol()).toBe(version);
  const old = { ...client, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const;
  await expect(dial(app.url, old)).rejects.toThrow(/protocol version|alert/);
  await expect(fetch(`${app.url}/health`)).rejects.toThrow();
  await expect(ask(`${app.url}/health`)).rejects.toThrow(/self-signed certificate/);
});

it('the name in a client certificate pins the node id and the tenant', async () => {
  const [server, first, second] = [await certify(), await certify('gpu-1.test'), await certify('gpu-2.test')];
  const rows = [
    '[[server.tokens]]\ncertificate = "gpu-1.test"\nrole = "node"\nnode_ids = ["node-1"]\ntenant_id = "acme"',
    '[[server.tokens]]\ntoken = "client-token-0123456789"\nrole = "client"\ntenant_id = "acme"',
    '[[server.tokens]]\ntoken = "other-token-0123456789"\nrole = "client"\ntenant_id = "globex"',
  ];
  const settings = { ...serving(server), 'server.tls.client_ca_file': first.certificate };
  const app = await startApp(settings, rows.join('\n'));
  const register = `${app.url}/v1/node/register`;

  const node = asClient(server, first);
  expect(await ask(register, { ...node, body: NODE })).toMatchObject({ status: 200 });
  expect(await ask(register, { ...node, body: { ...NODE, node_id: 'node-2' } })).toMatchObject({
    status: 403,
  });
  expect(await upgrade(app.nodeUrl, node)).toBe('open');
  expect(await ask(`${app.url}/api/v1/nodes`, node)).toMatchObject({ status: 403 });

  // A certificate of another authority, and none at all.
  for (const stranger of [asClient(server, second), asClient(server)]) {
    expect(await ask(register, { ...stranger, body: NODE })).toMatchObject({ status: 401 });
    expect(await upgrade(app.nodeUrl, stranger)).toBe(401);
  }

  const dispatch = (token: string) =>
    ask(`${app.url}/v1/dispatch/f2f`, { ...asClient(server), body: UTTERANCE, token });
  expect(await dispatch('client-token-0123456789')).toMatchObject({
    status: 200,
    body: { node_id: 'node-1' },
  });
  expect((await dispatch('other-token-0123456789')).status).not.toBe(200);
});

it('an SDK node shows its certificate in place of a token', async () => {
  const [server, client] = [await certify(), await certify('gpu-1.test')];
  const settings = { ...serving(server), 'server.tls.client_ca_file': client.certificate };
  const rows = [
    'certificate = "gpu-1.test"\nrole = "node"',
    'token = "client-token-0123456789"\nrole = "admin"',
  ];
  const app = await startApp(settings, rows.map((row) => `[[server.tokens]]\n${row}\n`).join(''));
  const url = app.nodeUrl.replace('ws://', 'wss://');
  const stranger = joinSdkNode({ url, onJob: () => OUTPUT, tls: { ca: asClient(server).ca } });
  await expect(stranger).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  await joinSdkNode({ url, onJob: () => OUTPUT, tls: asClient(server, client) });
  const answer = await eventually(async () => {
    const token = 'client-token-0123456789';
    const told = await ask(`${app.url}/v1/translate`, { ...asClient(server), token, body: UTTERANCE });
    return told.status === 200 ? told.body : undefined;
  });
  expect(answer).toMatchObject(OUTPUT);
});

it('new connections use a replaced certificate, a broken one changes nothing', async () => {
  const [server, next] = [await certify('old.test'), await certify('new.test')];
  const old = { ...server, certificate: `${server.certificate}.kept` };
  await copyFile(server.certificate, old.certificate);
  const app = await startApp(serving(server));
  const nameSeen = async () => {
    const socket = await dial(app.url, { rejectUnauthorized: false });
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  const open = await dial(app.url, asClient(old));
  expect(await nameSeen()).toBe('old.test');

  await writeFile(server.key, 'no key');
  await eventually(() => app.log.some((line) => line.includes('the old ones stay in use')));
  expect(app.log.join()).toContain('server.tls.key_file cannot be used');
  expect((await ask(`${app.url}/health`, asClient(old))).status).toBe(200);

  await copyFile(next.certificate, server.certificate);
  await copyFile(next.key, server.key);
  await eventually(async () => (await nameSeen()) === 'new.test');
  expect(open.destroyed).toBe(false);
});

it('connections without a handshake are bounded, and health answers', async () => {
  const server = await certify();
  const app = await startApp({ ...serving(server), 'server.limits.max_idle_connections_per_address': 3 });
  const silent = Array.from({ length: 10 }, () => connect(Number(new URL(app.url).port), '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of silent) socket.destroy();
  });
  for (const socket of silent) socket.on('error', () => {});
  await eventually(() => silent.filter((socket) => socket.destroyed || socket.readableEnded).length >= 7);
  for (const socket of silent) socket.resume();
  const { status } = await ask(`${app.url}/health`, asClient(server));
  expect(status).toBe(200);
});

it('a file that cannot be used is named at the start', async () => {
  const server = await certify();
  const settings = { ...serving(server), 'server.tls.key_file': '/nowhere/key.pem' };
  await expect(startApp(settings)).rejects.toThrow('server.tls.key_file cannot be read: ENOENT');
});
