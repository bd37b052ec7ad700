/**
 * A session with raw frames. Every received frame must be a protocol message, and outcomes must arrive once and in
 * order.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { parseSchedulerToSession } from '@lingua/protocol';
import { expect, onTestFinished } from 'vitest';
import WebSocket, { type ClientOptions } from 'ws';
import { eventually } from '../../support/eventually.ts';

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

export interface SessionClientOptions {
  /** As `sessionUrl` returns it. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly socket?: ClientOptions;
}

export interface SessionClient {
  readonly ws: WebSocket;
  /** All frames of the scheduler, oldest first. */
  readonly frames: readonly Frame[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  opened(): Promise<void>;
  send(frame: Readonly<Record<string, unknown>>): void;
  sendText(text: string): void;
  of(type: string): readonly Frame[];
  /** The frame of that type and number, from 1, as soon as it has arrived. */
  next(type: string, count?: number): Promise<Frame>;
  /** The outcome of that number, from 1, in the order of arrival. */
  outcome(count?: number): Promise<Frame>;
  outcomes(): readonly Frame[];
  /** Opens a session and returns its acknowledgement. */
  init(fields?: Readonly<Record<string, unknown>>): Promise<Frame>;
  sessionId(): string;
  /** Resolves when everything sent before was handled. */
  handled(): Promise<void>;
  /** The names of the ui_events of one utterance. */
  uiEvents(utteranceIndex: number): readonly unknown[];
  /** Breaks the connection. */
  cut(): void;
}

export const sessionUrl = ({ url }: { readonly url: string }): string =>
  `${url.replace('http', 'ws')}/ws/session`;

const ALL_EXTENSIONS = ['result_ack', 'utterance_accepted', 'backpressure', 'server_draining'];

/** The session_init of a current client, such as the SDK. */
export const INIT = {
  type: 'session_init',
  client_version: 'test/1',
  platform: 'api-gateway',
  src_lang: 'en',
  tgt_lang: 'zh',
  supports: ALL_EXTENSIONS,
  audio_format: 'pcm16',
  sample_rate: 16_000,
} as const;

const isOutcome = ({ type }: Frame): boolean => type === 'translation_result' || type === 'missing_result';

export function connectSession(options: SessionClientOptions): SessionClient {
  const frames: Frame[] = [];
  const flaws: string[] = [];
  const ws = new WebSocket(options.url, {
    ...options.socket,
    ...(options.token !== undefined && { headers: { authorization: `Bearer ${options.token}` } }),
  });
  let sessionId: string | undefined;
  let opened = 0;
  let beats = 0;

  ws.on('error', () => {});
  ws.on('message', (data, isBinary) => {
    const text = data.toString();
    const parsed = parseSchedulerToSession(text);
    const frame = JSON.parse(text) as Frame;
    if (isBinary) flaws.push('a binary frame');
    if (parsed.kind === 'invalid') flaws.push(`${parsed.problem.path} ${parsed.problem.message}: ${text}`);
    if (Object.values(frame).includes(null)) flaws.push(`a field that is absent is null: ${text}`);
    if (frame.type === 'session_init_ack') {
      sessionId = frame.session_id as string;
      opened = frames.length;
    }
    frames.push(frame);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });

  onTestFinished(() => {
    ws.terminate();
    expect(flaws).toEqual([]);
    expectOrder(frames);
  });

  const client: SessionClient = {
    ws,
    frames,
    closed,
    opened: () =>
      new Promise((resolve, reject) => {
        if (ws.readyState === WebSocket.OPEN) return resolve();
        ws.once('open', resolve);
        ws.once('error', reject);
      }),
    send: (frame) => ws.send(JSON.stringify(frame)),
    sendText: (text) => ws.send(text),
    of: (type) => frames.filter((frame) => frame.type === type),
    next: (type, count = 1) =>
      eventually(() => {
        const found = client.of(type)[count - 1];
        if (found === undefined) throw new Error(`no ${type} ${count} in ${typesOf(frames)}`);
        return found;
      }),
    outcomes: () => frames.filter(isOutcome),
    outcome: (count = 1) =>
      eventually(() => {
        const found = client.outcomes()[count - 1];
        if (found === undefined) throw new Error(`no outcome ${count} in ${typesOf(frames)}`);
        return found;
      }),
    async init(fields = INIT) {
      await client.opened();
      const before = client.of('session_init_ack').length;
      client.send(fields);
      return client.next('session_init_ack', before + 1);
    },
    sessionId() {
      if (sessionId === undefined) throw new Error('no session is open');
      return sessionId;
    },
    async handled() {
      beats += 1;
      const seen = client.of('server_heartbeat').length;
      client.send({ type: 'client_heartbeat', session_id: client.sessionId(), timestamp: beats });
      await client.next('server_heartbeat', seen + 1);
    },
    uiEvents: (index) =>
      frames
        .slice(opened)
        .filter((frame) => frame.type === 'ui_event' && frame.utterance_index === index)
        .map(({ event }) => event),
    cut: () => ws.terminate(),
  };
  return client;
}

const typesOf = (frames: readonly Frame[]): string =>
  JSON.stringify(frames.map(({ type, event, code }) => event ?? code ?? type));

/** Per connection and session: no outcome twice, none before an earlier one. */
function expectOrder(frames: readonly Frame[]): void {
  const last = new Map<unknown, number>();
  for (const frame of frames.filter(isOutcome)) {
    const index = frame.utterance_index as number;
    expect(index).toBeGreaterThan(last.get(frame.session_id) ?? -1);
    last.set(frame.session_id, index);
  }
}

/** An open session of a current client. */
export async function openSession(
  options: SessionClientOptions,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<SessionClient> {
  const client = connectSession(options);
  await client.init({ ...INIT, ...fields });
  return client;
}

/** The fields that prove the right to resume a session. */
export function proofOf(session: SessionClient): Readonly<Record<string, unknown>> {
  const opened = session.frames.find(({ type }) => type === 'session_init_ack');
  return { resume_session_id: opened?.session_id, resume_token: opened?.resume_token };
}

/** The same session on another connection, if it still exists. */
export const resume = (
  url: string,
  before: SessionClient,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<SessionClient> => openSession({ url }, { ...proofOf(before), ...fields });

/** The reply to a refused upgrade. */
export function refusedUpgrade(
  url: string,
  options: ClientOptions = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Record<string, unknown> }> {
  const ws = new WebSocket(url, options);
  onTestFinished(() => ws.terminate());
  return new Promise((resolve, reject) => {
    ws.on('error', () => {});
    ws.once('open', () => reject(new Error('the socket was accepted')));
    ws.once('unexpected-response', (_, response) => {
      let text = '';
      response.on('data', (part: Buffer) => {
        text += part.toString();
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: JSON.parse(text) as Record<string, unknown>,
        }),
      );
    });
  });
}

/** Audio that differs by number. */
export const pcm = (number = 1, bytes = 64): string => Buffer.alloc(bytes, number).toString('base64');

export const chunk = (
  client: SessionClient,
  seq: number,
  fields: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  type: 'audio_chunk',
  session_id: client.sessionId(),
  seq,
  is_final: false,
  payload: pcm(seq),
  ...fields,
});

/** One chunk that is a whole utterance, with a unique request id. */
export const spoken = (client: SessionClient, seq: number, requestId = `req-${client.sessionId()}-${seq}`) =>
  chunk(client, seq, { is_final: true, request_id: requestId });

export const utterance = (
  client: SessionClient,
  index: number,
  fields: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  type: 'utterance',
  session_id: client.sessionId(),
  utterance_index: index,
  manual_cut: true,
  src_lang: 'en',
  tgt_lang: 'zh',
  audio: pcm(index + 1),
  audio_format: 'pcm16',
  sample_rate: 16_000,
  ...fields,
});
