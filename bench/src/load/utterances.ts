/** Utterances at a fixed rate, and nodes that answer at once: the rest is the scheduler's own time. */
import WebSocket from 'ws';
import { simulatedCapabilities } from '../../../packages/scheduler/dist/cli/simulated-node/simulated-capabilities.js';
import { percentile } from '../measure.ts';
import { chunkFrame, later, openMany, type RawSession } from './raw-session.ts';

const SESSIONS = 200;
const NODES = 8;
const SLOTS = 64;
const CHUNKS = 5;

interface Times {
  /** When it was due: a late client must not hide a late server. */
  readonly dueAt: number;
  assignedAt?: number;
  answeredAt?: number;
}

export async function timedUtterances(url: string, rate: number, forMs: number): Promise<object> {
  const flying = new Map<string, Times>();
  const inbound: number[] = [];
  const outbound: number[] = [];
  await Promise.all(Array.from({ length: NODES }, (_, index) => answeringNode(url, index, flying)));
  const sessions = await openMany(url, SESSIONS);
  for (const session of sessions) listen(session, flying, inbound, outbound);
  await later(300);

  const total = Math.floor((rate * forMs) / 1_000);
  const start = performance.now();
  for (let i = 0; i < total; i++) {
    const dueAt = start + (i * 1_000) / rate;
    const aheadMs = dueAt - performance.now();
    if (aheadMs > 1) await later(aheadMs);
    const session = sessions[i % SESSIONS];
    if (session !== undefined) speak(session, Math.floor(i / SESSIONS), flying);
  }
  for (let waited = 0; inbound.length < total && waited < 5_000; waited += 20) await later(20);
  const sorted = (values: number[]) => values.sort((a, b) => a - b);
  const [into, out] = [sorted(inbound), sorted(outbound)];
  return {
    utterances: total,
    results: out.length,
    inP50: percentile(into, 0.5),
    inP99: percentile(into, 0.99),
    outP50: percentile(out, 0.5),
    outP99: percentile(out, 0.99),
  };
}

/** The last chunk names its request, so that the scheduler does not wait for more. */
function speak(session: RawSession, turn: number, flying: Map<string, Times>): void {
  const requestId = `req-${session.sessionId}-${turn}`;
  const seq = turn * CHUNKS;
  for (let i = 0; i < CHUNKS - 1; i++) session.ws.send(chunkFrame(session.sessionId, seq + i, { requestId }));
  flying.set(`${session.sessionId}/${turn}`, { dueAt: performance.now() });
  session.ws.send(chunkFrame(session.sessionId, seq + CHUNKS - 1, { requestId, isFinal: true }));
}

function listen(
  session: RawSession,
  flying: Map<string, Times>,
  inbound: number[],
  outbound: number[],
): void {
  session.onText = (text) => {
    if (!text.startsWith('{"type":"translation_result"')) return;
    const now = performance.now();
    const { utterance_index: turn, delivery_seq: seq } = JSON.parse(text) as {
      utterance_index: number;
      delivery_seq: number;
    };
    session.ws.send(JSON.stringify({ type: 'result_ack', session_id: session.sessionId, delivery_seq: seq }));
    const times = flying.get(`${session.sessionId}/${turn}`);
    if (times?.assignedAt === undefined || times.answeredAt === undefined) return;
    inbound.push(times.assignedAt - times.dueAt);
    outbound.push(now - times.answeredAt);
    flying.delete(`${session.sessionId}/${turn}`);
  };
}

function answeringNode(url: string, index: number, flying: Map<string, Times>): Promise<void> {
  const nodeId = `node-bench-${index}`;
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`${url}/ws/node`, { perMessageDeflate: false });
    ws.on('error', reject);
    ws.on('open', () => {
      const about = {
        hardware: { cpu_cores: 8, memory_gb: 32 },
        installed_models: [],
        features_supported: {},
      };
      const register = {
        type: 'node_register',
        node_id: nodeId,
        version: '1',
        platform: 'linux',
        accept_public_jobs: true,
        capability_schema_version: '2.0',
        supports: ['job_ack'],
        max_concurrent_jobs: SLOTS,
        ...about,
        ...simulatedCapabilities(['en', 'zh'], false),
      };
      ws.send(JSON.stringify(register));
    });
    ws.on('message', (data: Buffer) => {
      const now = performance.now();
      const text = data.toString();
      if (text.startsWith('{"type":"node_register_ack"')) {
        const usage = { cpu_percent: 1, mem_percent: 1, running_jobs: 0 };
        ws.send(
          JSON.stringify({ type: 'node_heartbeat', node_id: nodeId, timestamp: 1, resource_usage: usage }),
        );
        resolve();
      }
      if (!text.startsWith('{"type":"job_assign"')) return;
      const job = JSON.parse(text) as Record<'job_id' | 'session_id' | 'trace_id', string> &
        Record<'attempt_id' | 'utterance_index', number>;
      const { job_id, attempt_id, session_id, utterance_index, trace_id } = job;
      const about = { job_id, attempt_id, node_id: nodeId, session_id, trace_id };
      const times = flying.get(`${session_id}/${utterance_index}`);
      if (times !== undefined) times.assignedAt = now;
      ws.send(JSON.stringify({ type: 'job_ack', ...about }));
      if (times !== undefined) times.answeredAt = performance.now();
      const output = { text_asr: 'hello', text_translated: 'hallo', tts_audio: '', tts_format: 'opus' };
      ws.send(JSON.stringify({ type: 'job_result', ...about, utterance_index, success: true, ...output }));
    });
  });
}
