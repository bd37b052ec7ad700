/** The whole scheduler in this process, on a free port, and an HTTP client for it. Stopped with the test that started it. */
import type { DispatchReply, ErrorReply, JobView, NodeView } from '@lingua/protocol';
import { onTestFinished } from 'vitest';
import { createLog } from '../../../src/adapters/system/log.ts';
import { type App, createApp } from '../../../src/app/create-app.ts';
import { type LoadResult, loadConfig } from '../../../src/config/load-config.ts';
import { printFinding } from '../../../src/config/origin.ts';
import type { Config } from '../../../src/config/settings.ts';
import { eventually } from '../../support/eventually.ts';
import { expectListed } from '../../support/listed-replies.ts';

export type Settings = Readonly<Record<string, string | number | boolean>>;

export interface ReportedAttempt<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** The reply to a dispatch that found a node. */
export type Placed = Required<DispatchReply>;

export interface RunningApp {
  readonly app: App;
  readonly url: string;
  readonly nodeUrl: string;
  /** All log lines so far, as JSON. */
  readonly log: readonly string[];
  get<Body = Record<string, unknown>>(path: string, token?: string): Promise<ReportedAttempt<Body>>;
  post<Body = Record<string, unknown>>(
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<ReportedAttempt<Body>>;
  remove<Body = Record<string, unknown>>(path: string, token?: string): Promise<ReportedAttempt<Body>>;
  /** Submits an utterance from English to spoken Chinese; fails if it is refused. */
  dispatch(fields?: Record<string, unknown>): Promise<Placed>;
  /** The same, but returns refusals. */
  tryDispatch(fields?: Record<string, unknown>): Promise<ReportedAttempt<Placed & ErrorReply>>;
  job(jobId: string): Promise<JobView>;
  /** The job as soon as it has its outcome. */
  settled(jobId: string): Promise<JobView>;
  nodes(): Promise<readonly NodeView[]>;
  /** Waits until that many nodes are ready. */
  readyNodes(count: number): Promise<void>;
}

/** Eight bytes of silence, pcm16. */
export const AUDIO = 'AAAAAAAAAAA=';

/** Consistent times, as short as a busy machine allows. */
export const SHORT_TIMES: Settings = {
  'scheduler.heartbeat_interval_seconds': 0.1,
  'scheduler.cluster.redis.command_timeout_ms': 200,
  'scheduler.reserve_timeout_ms': 300,
  'scheduler.ack_timeout_ms': 1_000,
  'scheduler.reservation_ttl_ms': 1_500,
  'scheduler.job_timeout_seconds': 2,
  'scheduler.pending_timeout_ms': 20_000,
  'scheduler.job_deadline_ms': 40_000,
};

/** Tests start their own nodes, and do not wait for others. On a busy machine a client may take long to send its headers. */
const QUICK: Settings = {
  'server.headers_timeout_ms': 120_000,
  'server.request_timeout_ms': 120_000,
  'server.port': 0,
  'server.drain_timeout_ms': 0,
  'scheduler.fleet_warmup_ms': 0,
};

const load = (settings: Settings, toml: string): LoadResult =>
  loadConfig({
    toml: { text: toml, path: 'test.toml' },
    flags: Object.entries({ ...QUICK, ...settings }).map(
      ([key, value]) => ['set', `${key}=${value}`] as const,
    ),
  });

function loadValid(settings: Settings, toml = '') {
  const loaded = load(settings, toml);
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.map(printFinding).join('\n'));
  return loaded;
}

export const configOf = (settings: Settings, toml?: string): Config => loadValid(settings, toml).config;

/** `file`: the content of the configuration file, read again each time. */
export async function startApp(
  settings: Settings = {},
  toml?: string,
  file?: () => string,
): Promise<RunningApp> {
  const log: string[] = [];
  const { config, origins } = loadValid(settings, toml);
  const app = createApp({
    config,
    origins,
    log: createLog('debug', { destination: { write: (line) => log.push(line) } }),
    reread: file && (async () => load(settings, file())),
  });
  const { address, port } = await app.start();
  onTestFinished(() => app.stop());
  return {
    app,
    log,
    nodeUrl: `ws://${address}:${port}/ws/node`,
    ...createClient(`http://${address}:${port}`),
  };
}

export function createClient(url: string): Omit<RunningApp, 'app' | 'log' | 'nodeUrl'> {
  async function call<Body>(method: string, path: string, body: unknown, token: string | undefined) {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const answer = (isJson ? JSON.parse(text) : text) as Body;
    expectListed(method, path, response.status, answer);
    return { status: response.status, headers: response.headers, body: answer };
  }

  const get = <Body>(path: string, token?: string) => call<Body>('GET', path, undefined, token);
  const post = <Body>(path: string, body: unknown = {}, token?: string) =>
    call<Body>('POST', path, body, token);
  const tryDispatch = (fields: Record<string, unknown> = {}) =>
    post<Placed & ErrorReply>('/v1/dispatch/f2f', {
      session_id: 'room-1',
      src_lang: 'en',
      tgt_lang: 'zh',
      audio: AUDIO,
      ...fields,
    });
  const nodes = async () => (await get<{ nodes: NodeView[] }>('/api/v1/nodes?limit=1000')).body.nodes;

  return {
    url,
    get,
    post,
    remove: <Body>(path: string, token?: string) => call<Body>('DELETE', path, undefined, token),
    tryDispatch,
    nodes,
    async dispatch(fields) {
      const { status, body } = await tryDispatch(fields);
      if (status !== 200) throw new Error(`the dispatch was refused: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    job: async (jobId) => (await get<JobView>(`/v1/job/${jobId}`)).body,
    settled: (jobId) =>
      eventually(async () => {
        const { body } = await get<JobView>(`/v1/job/${jobId}?wait_ms=2000`);
        return ['FINISHED', 'FAILED', 'RELEASED'].includes(body.state) ? body : undefined;
      }),
    async readyNodes(count) {
      await eventually(async () => {
        const ready = (await nodes()).filter(({ status }) => status === 'ready');
        return ready.length >= count;
      });
    },
  };
}

/** The nodes that received a job, in order. */
export const nodesOf = (job: JobView): string[] =>
  job.timeline.flatMap(({ state, node_id }) =>
    state === 'DISPATCHED' && node_id !== undefined ? [node_id] : [],
  );
