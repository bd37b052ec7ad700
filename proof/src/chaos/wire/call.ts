/** One HTTP call on a connection of its own, so that the next one may reach another instance. */
import { request } from 'node:http';

export interface Called<Body = unknown> {
  readonly status: number;
  readonly body: Body;
}

/** Rejects when there is no whole answer in time. */
export function call<Body = Record<string, unknown>>(
  port: number,
  method: 'GET' | 'POST',
  path: string,
  { body, timeoutMs = 4_000 }: { readonly body?: unknown; readonly timeoutMs?: number } = {},
): Promise<Called<Body>> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    const sent = request({ host: '127.0.0.1', port, method, path, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', fail);
      response.on('close', () => {
        if (!response.complete) return fail(new Error('the answer broke off'));
        clearTimeout(timer);
        const read = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, body: parse(read) as Body });
      });
    });
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
