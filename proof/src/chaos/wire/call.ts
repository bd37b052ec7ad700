/** One HTTP call on its own connection, so that the next one may reach another instance. */
import { type IncomingMessage, request } from 'node:http';
import { request as requestOverTls } from 'node:https';

export interface Called<Body = unknown> {
  readonly status: number;
  readonly body: Body;
}

export interface Calling {
  readonly body?: unknown;
  /** Absent: without a credential. */
  readonly token?: string | undefined;
  readonly timeoutMs?: number;
  /** The authority that signed the certificate of the server. Absent: without TLS. */
  readonly ca?: string | undefined;
  /** PEM; shown to a server that asks for it. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** Rejects when there is no complete answer in time. */
export function call<Body = Record<string, unknown>>(
  port: number,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  calling: Calling = {},
): Promise<Called<Body>> {
  return send(port, method, path, calling, (response, resolve, reject) => {
    const parts: Buffer[] = [];
    response.on('data', (part: Buffer) => parts.push(part));
    response.on('error', reject);
    response.on('close', () => {
      if (!response.complete) return reject(new Error('the answer broke off'));
      const read = Buffer.concat(parts).toString();
      resolve({ status: response.statusCode ?? 0, body: parse(read) as Body });
    });
  });
}

/** Only the status: the body may have no end. Rejects when there is none in time. */
export function ask(
  port: number,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  calling: Calling = {},
): Promise<number> {
  return send(port, method, path, calling, (response, resolve) => {
    resolve(response.statusCode ?? 0);
    response.on('error', () => {});
    response.destroy();
  });
}

function send<Answer>(
  port: number,
  method: string,
  path: string,
  { body, token, timeoutMs = 4_000, ca, certificate }: Calling,
  read: (
    response: IncomingMessage,
    resolve: (answer: Answer) => void,
    reject: (fault: Error) => void,
  ) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    const succeed = (answer: Answer): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const where = { host: '127.0.0.1', port, method, path, headers, agent: false as const };
    const answered = (response: IncomingMessage): void => read(response, succeed, fail);
    const sent =
      ca === undefined
        ? request(where, answered)
        : requestOverTls({ ...where, ca, ...certificate }, answered);
    sent.on('error', fail);
    if (text !== undefined) {
      sent.setHeader('content-type', 'application/json');
      sent.setHeader('content-length', Buffer.byteLength(text));
    }
    sent.end(text);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
