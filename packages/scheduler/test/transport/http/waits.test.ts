/** Budgets of requests that wait: one client must not use up what others need (I11). */
import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import type { FastifyReply } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import type { Principal } from '../../../src/transport/access/gate.ts';
import { createWaits, type WaitKind, type WaitOwner } from '../../../src/transport/http/server/waits.ts';
import { eventually } from '../../support/eventually.ts';
import { DISPATCH, REGISTER, startServer } from './start-server.ts';

const MAX = 100;
type Owner = Omit<WaitOwner, 'principal'>;
type Labels = Readonly<Record<string, unknown>>;
const ANYBODY: Principal = { role: 'client', roles: new Set(), credential: 'token:1', isAnonymous: false };

/** Waits on a connection each, unless `raw` is given. */
function rig() {
  const refused: unknown[] = [];
  const meter = { count: (_name: unknown, labels?: Labels) => refused.push(labels?.limit) };
  const created = createWaits({ max: MAX, meter, gate: { hold: () => () => {} } });
  const waits = {
    ...created,
    begin: (kind: WaitKind, owner: Owner, reply: FastifyReply) =>
      created.begin(kind, { ...owner, principal: ANYBODY }, reply),
  };
  const replyOn = (socket: EventEmitter) =>
    ({ raw: Object.assign(new EventEmitter(), { req: { socket } }) }) as unknown as FastifyReply;
  const begin = (kind: WaitKind, owner: Owner, socket = new EventEmitter()) =>
    waits.begin(kind, owner, replyOn(socket)).kind;
  const fill = (kind: WaitKind, owner: Owner, socket?: EventEmitter) => {
    let begun = 0;
    while (begun < MAX + 1 && begin(kind, owner, socket) === 'begun') begun += 1;
    return begun;
  };
  return { waits, begin, fill, refused, replyOn };
}

it('one connection holds at most 4 waits', () => {
  const { fill, begin, refused } = rig();
  const socket = new EventEmitter();
  expect(fill('caller', { id: 'a', tenantId: 't' }, socket)).toBe(4);
  expect(refused).toEqual(['connection']);
  expect(begin('caller', { id: 'a', tenantId: 't' })).toBe('begun');
});

it('one credential and one tenant leave room for others', () => {
  const { fill, begin, refused } = rig();
  expect(fill('caller', { id: 'a', tenantId: 't' })).toBe(25);
  expect(fill('caller', { id: 'b', tenantId: 't' })).toBe(25);
  expect(begin('caller', { id: 'c', tenantId: 't' })).toBe('refused');
  expect(begin('caller', { id: 'd', tenantId: 'other' })).toBe('begun');
  expect(refused).toEqual(['owner', 'owner', 'tenant']);
});

it('callers, streams and polls of nodes do not use each other up', () => {
  const { fill, begin } = rig();
  for (const tenantId of ['t', 'u'])
    for (const id of ['a', 'b', 'c']) fill('caller', { id: id + tenantId, tenantId });
  expect(begin('caller', { id: 'new', tenantId: 'new' })).toBe('refused');
  expect(begin('stream', { id: 'at', tenantId: 't' })).toBe('begun');
  expect(begin('poll', { id: 'node-1' })).toBe('begun');
});

it('a refusal gives the number of the limit that it names, also if two are reached', () => {
  const { waits, fill, refused, replyOn } = rig();
  for (const tenantId of ['t', 'u'])
    for (const id of ['a', 'b']) fill('caller', { id: id + tenantId, tenantId });
  refused.length = 0;
  const answer = waits.begin('caller', { id: 'at', tenantId: 't' }, replyOn(new EventEmitter()));
  expect(refused).toEqual(['total']);
  expect(answer).toMatchObject({
    kind: 'refused',
    refusal: { detail: '100 requests are waiting already on this instance' },
  });
});

it('one node holds at most 4 polls', () => {
  const { fill, begin } = rig();
  expect(fill('poll', { id: 'node-1' })).toBe(4);
  expect(begin('poll', { id: 'node-2' })).toBe('begun');
});

it('a wait that ends, or whose client leaves, frees its budgets once', () => {
  const { waits, replyOn, begin } = rig();
  const socket = new EventEmitter();
  const owner = { id: 'node-1' };
  const replies = [0, 1, 2, 3].map(() => replyOn(socket));
  const begun = replies.map((reply) => waits.begin('poll', owner, reply));
  expect(begin('poll', owner)).toBe('refused');
  replies[0]?.raw.emit('close');
  if (begun[0]?.kind === 'begun') begun[0].wait.end();
  expect(begin('poll', owner)).toBe('begun');
  expect(begin('poll', owner)).toBe('refused');
  expect(waits.size('poll')).toBe(4);
});

it('10,050 pipelined long polls of one client do not starve a pull node', async () => {
  const { url, post, get, server, counts } = await startServer();
  await post('/v1/node/register', REGISTER);
  const { job_id: jobId } = (await post('/v1/dispatch/f2f', DISPATCH)).body as { job_id: string };
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  socket.write(`GET /v1/job/${jobId}?wait_ms=60000 HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`.repeat(10_050));
  await ended;
  expect([...counts].filter(([name]) => name.includes('pipelined'))).toEqual([[expect.any(String), 1]]);
  expect((await get('/v1/node/node-123/jobs?wait_ms=1')).status).toBe(200);
  await eventually(() => server.waits('caller') === 0);
});
