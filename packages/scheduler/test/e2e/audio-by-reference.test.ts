/** Audio for nodes over real sockets: by reference with a token for one job, inline for nodes that cannot fetch. */
import type { AudioRef, ErrorReply, JobAssign } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode } from './support/legacy-node.ts';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { nodesOf, type RunningApp, type Settings, startApp } from './support/start-app.ts';

const BY_REFERENCE: Settings = { 'scheduler.audio.inline_max_bytes': 0 };
/** Every byte value, and a length that is no multiple of a base64 or hexadecimal group. */
const BYTES = Buffer.from(Array.from({ length: 5_003 }, (_, index) => (index * 7) % 256));
const AUDIO = BYTES.toString('base64');

async function joinFetchingNode(app: RunningApp, nodeId = 'node-a') {
  const assigned: JobAssign[] = [];
  const heard: Buffer[] = [];
  await joinSdkNode({
    url: app.nodeUrl,
    nodeId,
    async onJob(job, context) {
      assigned.push(job);
      heard.push(await context.audio());
      return OUTPUT;
    },
  });
  return { assigned, heard };
}

/** An instance whose only node holds its jobs. */
async function startHeld(settings: Settings = BY_REFERENCE) {
  const app = await startApp(settings);
  const held = holdJobs();
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: held.onJob });
  await app.readyNodes(1);
  return { app, held };
}

const refOf = ({ audio_ref: ref }: JobAssign): Required<AudioRef> => ref as Required<AudioRef>;

async function fetchAudio({ url, token }: Pick<Required<AudioRef>, 'url' | 'token'>) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

const codeOf = ({ bytes }: { bytes: Buffer }): string =>
  (JSON.parse(bytes.toString()) as ErrorReply).error as string;

describe('audio by reference', () => {
  it('an SDK node fetches audio byte for byte', async () => {
    const app = await startApp(BY_REFERENCE);
    const { assigned, heard } = await joinFetchingNode(app);
    await app.readyNodes(1);
    const { job_id } = await app.dispatch({ audio: AUDIO });
    expect((await app.settled(job_id)).result).toMatchObject({ success: true });
    expect(assigned[0]).toMatchObject({
      audio: '',
      audio_ref: { url: `${app.url}/v1/audio/${job_id}`, bytes: BYTES.length },
    });
    expect(heard[0]?.equals(BYTES)).toBe(true);
  });

  it('a legacy node gets the same bytes inline', async () => {
    const app = await startApp(BY_REFERENCE);
    const node = await connectLegacyNode({ url: app.nodeUrl }).registered();
    await app.readyNodes(1);
    await app.dispatch({ audio: AUDIO });
    const job = await node.job();
    expect(Buffer.from(job.audio, 'base64').equals(BYTES)).toBe(true);
    expect(job).not.toHaveProperty('audio_ref');
  });

  it('a mailbox node gets references, unless it does not fetch', async () => {
    const app = await startApp(BY_REFERENCE);
    const take = async (nodeId: string, supports?: readonly string[]) => {
      const abilities = { semantic_langs: ['en', 'zh'], tts_langs: [], max_concurrent_jobs: 1 };
      await app.post('/v1/node/register', { node_id: nodeId, health: 'ready', ...abilities, supports });
      await app.dispatch({ audio: AUDIO, options: { preferred_node_id: nodeId, strict: true } });
      const { body } = await app.get<{ jobs: JobAssign[] }>(`/v1/node/${nodeId}/jobs?wait_ms=5000`);
      return body.jobs[0] as JobAssign;
    };
    const fetching = await take('node-a');
    expect(fetching.audio).toBe('');
    expect((await fetchAudio(refOf(fetching))).bytes.equals(BYTES)).toBe(true);
    expect(await take('node-b', ['job_ack'])).toMatchObject({ audio: AUDIO });
  });

  it('only audio above the inline limit is sent by reference', async () => {
    const { app, held } = await startHeld({ 'scheduler.audio.inline_max_bytes': BYTES.length });
    await app.dispatch({ audio: AUDIO });
    expect(await held.job(1)).toMatchObject({ audio: AUDIO });
    await app.dispatch({ audio: Buffer.concat([BYTES, BYTES.subarray(0, 1)]).toString('base64') });
    expect(refOf(await held.job(2)).bytes).toBe(BYTES.length + 1);
  });

  it("audio can be fetched with its own job's token only", async () => {
    const { app, held } = await startHeld();
    for (const session_id of ['room-1', 'room-2']) await app.dispatch({ audio: AUDIO, session_id });
    const [a, b] = [refOf(await held.job(1)), refOf(await held.job(2))];
    expect((await fetchAudio(b)).status).toBe(200);
    const stolen = await fetchAudio({ url: b.url, token: a.token });
    expect([stolen.status, codeOf(stolen)]).toEqual([403, 'FORBIDDEN']);
    const ofNobody = await fetchAudio({ url: `${app.url}/v1/audio/job-nobody-has`, token: a.token });
    expect(ofNobody).toEqual(stolen);
  });

  it('audio is freed by any outcome of its job', async () => {
    const { app, held } = await startHeld();
    const finished = await app.dispatch({ audio: AUDIO, session_id: 'room-1' });
    const cancelled = await app.dispatch({ audio: AUDIO, session_id: 'room-2' });
    const refs = [refOf(await held.job(1)), refOf(await held.job(2))];
    for (const ref of refs) expect((await fetchAudio(ref)).status).toBe(200);
    expect((await app.get<string>('/metrics')).body).toContain(
      `scheduler_audio_store_bytes ${2 * BYTES.length}\n`,
    );
    await app.post(`/v1/job/${cancelled.job_id}/cancel`);
    held.finish();
    for (const { job_id } of [finished, cancelled]) await app.settled(job_id);
    for (const ref of refs) {
      const gone = await eventually(async () => {
        const answer = await fetchAudio(ref);
        return answer.status === 410 && answer;
      });
      expect(codeOf(gone)).toBe('AUDIO_LOST');
    }
    expect((await app.get<string>('/metrics')).body).toContain('scheduler_audio_store_bytes 0\n');
  });

  it('audio can be fetched while the instance drains', async () => {
    const { app, held } = await startHeld({ ...BY_REFERENCE, 'server.drain_timeout_ms': 10_000 });
    await app.dispatch({ audio: AUDIO });
    const ref = refOf(await held.job());
    const stopped = app.app.stop();
    expect((await app.tryDispatch()).status).toBe(503);
    expect((await fetchAudio(ref)).bytes.equals(BYTES)).toBe(true);
    held.finish();
    await stopped;
    expect(app.log.join('')).toContain('every job has its outcome');
  });
});

describe('node that cannot reach the audio', () => {
  it('the job moves to a node that gets the audio inline', async () => {
    // There is no server at this address.
    const app = await startApp({ ...BY_REFERENCE, 'server.advertise_url': 'http://127.0.0.1:1' });
    const { assigned, heard } = await joinFetchingNode(app);
    const field = await connectLegacyNode({ url: app.nodeUrl, nodeId: 'node-b' }).registered();
    await app.readyNodes(2);
    const { job_id } = await app.dispatch({ audio: AUDIO, options: { preferred_node_id: 'node-a' } });
    const job = await app.settled(job_id);
    expect(nodesOf(job)).toEqual(['node-a', 'node-b']);
    expect(job.result).toMatchObject({ success: true });
    expect(refOf(assigned[0] as JobAssign).url).toBe(`http://127.0.0.1:1/v1/audio/${job_id}`);
    expect(heard).toEqual([]);
    expect((await field.job()).audio).toBe(AUDIO);
  });

  it('an instance without a known address sends audio inline and logs it once', async () => {
    const app = await startApp(
      { ...BY_REFERENCE, 'server.host': '0.0.0.0' },
      '[server]\nanonymous = ["session", "node", "operator"]\ntrusted_networks = ["127.0.0.0/8", "10.0.0.0/8"]',
    );
    const { assigned, heard } = await joinFetchingNode(app);
    await app.readyNodes(1);
    const { job_id } = await app.dispatch({ audio: AUDIO });
    await app.settled(job_id);
    expect(assigned[0]).toMatchObject({ audio: AUDIO });
    expect(assigned[0]).not.toHaveProperty('audio_ref');
    expect(heard[0]?.equals(BYTES)).toBe(true);
    expect(app.log.filter((line) => line.includes('server.advertise_url'))).toHaveLength(1);
  });
});

describe('privacy of audio', () => {
  it.each([
    ['by reference', 0],
    ['inline', 1_000_000],
  ])('neither audio nor tokens appear in logs, metrics or job views: %s', async (_, limit) => {
    const app = await startApp({ 'scheduler.audio.inline_max_bytes': limit, 'log.level': 'debug' });
    const { assigned } = await joinFetchingNode(app);
    await app.readyNodes(1);
    const pattern = Buffer.from('deadbeefcafef00ddeadbeefcafef00d'.repeat(3), 'hex');
    const audio = Buffer.concat(Array<Buffer>(50).fill(pattern)).toString('base64');
    const { job_id } = await app.dispatch({ audio });
    const job = await app.settled(job_id);
    await app.tryDispatch({ audio: `${audio}%` });
    await app.tryDispatch({ audio, session_id: 'x'.repeat(1_000) });
    const fetched = await fetch(`${app.url}/v1/audio/${job_id}`, {
      headers: { authorization: 'Bearer no' },
    });
    expect(fetched.status).toBe(403);
    const metrics = await app.get<string>('/metrics');
    await eventually(() => app.log.filter((line) => line.includes('request answered')).length >= 5);
    const seen = [...app.log, metrics.body, JSON.stringify(job)].join('\n').toLowerCase();
    const { audio_ref: ref } = assigned[0] as JobAssign;
    expect(ref === undefined).toBe(limit > 0);
    // One period of the pattern is a multiple of three bytes, so its base64 repeats, too.
    const traces = [pattern.toString('base64'), pattern.toString('hex', 0, 8), ref?.token ?? 'bearer no'];
    for (const trace of traces) expect(seen).not.toContain(trace.toLowerCase());
  });
});
