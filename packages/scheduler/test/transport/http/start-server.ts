/** A real server on a free port, with minimal services. */

import type { JobAssign, JobCancel } from '@lingua/protocol';
import { afterEach } from 'vitest';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createJobEvents } from '../../../src/adapters/memory/job-events.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import { createClusterReader } from '../../../src/cluster/operators/cluster-reader.ts';
import { NO_DEAD_LETTERS } from '../../../src/cluster/recovery/dead-letter-service.ts';
import type { PartialText } from '../../../src/domain/node-report.ts';
import type { AuditEvent } from '../../../src/ports/audit-log.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Meter } from '../../../src/ports/meter.ts';
import { createJobReader } from '../../../src/runtime/job-reader.ts';
import { createTextsOfJobs } from '../../../src/runtime/texts-of-jobs.ts';
import { createAudioTokens } from '../../../src/transport/access/audio-tokens.ts';
import { type AccessSettings, createGate } from '../../../src/transport/access/create-gate.ts';
import { createHttpServer } from '../../../src/transport/http/server/create-http-server.ts';
import { HTTP_DEFAULTS, type HttpServices } from '../../../src/transport/http/server/http-services.ts';
import { expectListed } from '../../support/listed-replies.ts';
import { instanceNamed } from '../../support/test-cluster.ts';
import { createFakeEngine } from './fake-engine.ts';
import { createFakeRegistry } from './fake-registry.ts';

export const OPEN: AccessSettings = {
  tokens: [],
  anonymous: [],
  trustedNetworks: ['127.0.0.0/8', '::1/128'],
  allowedHosts: [],
  allowedOrigins: [],
  limits: {
    maxConnections: 100,
    maxConnectionsPerTenant: 100,
    maxConnectionsPerAddress: 100,
    requestsPerSecond: 1_000_000,
    requestsPerSecondPerTenant: 1_000_000,
    messagesPerSecond: 100,
    messagesBurst: 100,
  },
};

/** On a busy machine the client in this process may take long to send its headers. */
const PATIENT = { headersTimeoutMs: 120_000, requestTimeoutMs: 120_000 };

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used.
  readonly body: any;
}

export interface StartOptions {
  /** Absent: the time of the machine. */
  readonly clock?: Clock;
  readonly access?: Partial<AccessSettings>;
  readonly settings?: Partial<HttpServices['settings']>;
  readonly services?: Partial<HttpServices>;
}

const running: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

export async function startServer(options: StartOptions = {}) {
  const { clock = systemClock } = options;
  const counts = new Map<string, number>();
  const meter: Meter = {
    count: (name, labels = {}) => {
      const key = [name, ...Object.values(labels)].join(' ');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    gauge: () => {},
    observe: () => {},
  };
  const lines: string[] = [];
  const audited: AuditEvent[] = [];
  const partials: unknown[][] = [];
  const log = createLog('debug', { destination: { write: (line) => lines.push(line) } });
  const ids = createIdSource({ clock, digestsRequests: true });
  const events = createJobEvents({ maxListeners: 100 });
  const partialTexts = createTextsOfJobs<PartialText>();
  const engine = createFakeEngine({ clock, ids, events });
  const registry = createFakeRegistry({ clock });
  // Every lease can be committed: these tests are about the routes.
  const ledger = { commit: () => ({ kind: 'committed', used: 1, max: 1 }) as const };
  const mailbox = createNodeMailbox<JobAssign | JobCancel>({ clock, maxPerNode: 8, ledger });
  const audio = {
    store: createAudioStore({ maxBytes: 64 * 1024 * 1024, maxBytesPerJob: 64 * 1024 * 1024 }),
    tokens: createAudioTokens({
      secrets: [Buffer.from('a secret of the test')],
      isShared: true,
      ttlMs: 60_000,
      now: clock.now,
    }),
  };
  const readiness = { isReady: true, reasons: [] as string[] };
  const settings = { ...OPEN, ...options.access };
  const gate = createGate({ clock, meter, settings });
  const server = createHttpServer({
    registry,
    jobs: engine.jobs,
    reader: createJobReader({ clock, store: engine.store, events, partialTexts }),
    sessions: { list: () => ({ sessions: [] }), close: () => false },
    onPartial: (...partial) => partials.push(partial),
    recentAttempts: { of: () => [] },
    mailbox,
    endpoints: { permits: (url) => url.startsWith('http://10.') },
    gate,
    ids,
    meter,
    log,
    audit: { record: (event) => audited.push(event) },
    clock,
    readiness: () => readiness,
    audio,
    cluster: {
      reader: createClusterReader({
        clock,
        self: () => instanceNamed('alone'),
        figures: () => ({ nodes: 0, sessions: 0, jobs: 0 }),
        store: () => ({ mode: 'embedded', isOk: true }),
      }),
      deadLetters: NO_DEAD_LETTERS,
    },
    explainServices: {
      explain: () => {
        throw new Error('this test server has no fleet');
      },
      explainPlan: () => {
        throw new Error('this test server has no fleet');
      },
      offerLanguages: () => {
        throw new Error('this test server has no fleet');
      },
      readPools: () => ({ plan: undefined, pools: [], unpooled: { total: 0, sampleNodeIds: [] } }),
      poolSettings: () => ({}),
    },
    metrics: { contentType: 'text/plain', print: async () => 'scheduler_nodes 1\n' },
    ...options.services,
    settings: { ...HTTP_DEFAULTS, ...PATIENT, logsRequests: true, ...options.settings },
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${port}`;
  running.push(() => server.close());

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const answer = isJson && text !== '' ? JSON.parse(text) : text;
    expectListed(method, path, response.status, answer);
    return { status: response.status, headers: response.headers, body: answer } as Answered;
  }

  return {
    url,
    port,
    server,
    engine,
    registry,
    mailbox,
    events,
    partialTexts,
    audio,
    readiness,
    counts,
    lines,
    audited,
    partials,
    call,
    get: (path: string, headers?: Record<string, string>) => call('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      call('POST', path, body, headers),
  };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export const DISPATCH = { session_id: 'room-888', src_lang: 'en', tgt_lang: 'zh', audio_ref: 'blob://1' };
export const REPORT = { job_id: 'job-abc', attempt_id: 1, node_id: 'node-123' };
export const REGISTER = {
  node_id: 'node-123',
  health: 'ready',
  semantic_langs: ['en', 'zh'],
  nmt_pairs: [
    ['en', 'zh'],
    ['zh', 'en'],
  ],
  tts_langs: ['en', 'zh'],
  max_concurrent_jobs: 2,
};
