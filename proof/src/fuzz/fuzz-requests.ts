/** HTTP requests to every endpoint of the table, made from its schemas, then distorted. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { HTTP_ENDPOINTS, type HttpEndpoint } from '@lingua/protocol';
import { codesByStatus } from '../../../packages/scheduler/dist/transport/docs/openapi.js';
import { type Chance, distort, generate, oneOf, type Schema, writeMessage } from './generate.ts';

const AT_ONCE = 16;
/** A request that waits, or follows a stream, is given up. */
const PATIENCE_MS = 500;
const TYPES = [
  'application/json',
  'application/json',
  'application/json',
  'text/plain',
  'audio/wav',
  '',
  'application/json; charset=utf-7',
];
const TAILS = ['', '', '', '', '/', '/..', '/%2e%2e/', '%00', '/%ff', '?', '//', '/\\', ';a=b', '#'];

export interface RequestFault {
  readonly request: string;
  readonly status: number;
  readonly body: string;
}

export interface FuzzedRequests {
  readonly sent: number;
  /** With the error code if it is a 5xx. */
  readonly statuses: ReadonlyMap<string, number>;
  /** Answers that no request may get. */
  readonly faults: readonly RequestFault[];
}

const MOST_FAULTS = 20;

/** `token`: of an admin; half of the requests have it, so that the fuzz gets behind every check of a role. */
export async function fuzzRequests(
  port: number,
  token: string,
  count: number,
  chance: Chance,
): Promise<FuzzedRequests> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const statuses = new Map<string, number>();
  const faults: RequestFault[] = [];
  let sent = 0;
  const callers = Array.from({ length: AT_ONCE }, async () => {
    while (sent < count) {
      sent += 1;
      const endpoint = oneOf(chance, HTTP_ENDPOINTS);
      const asked = makeRequest(endpoint, token, chance);
      const { status, body } = await send(port, agent, asked);
      const counted = status < 500 ? String(status) : `${status} ${codeIn(body) ?? ''}`;
      statuses.set(counted, (statuses.get(counted) ?? 0) + 1);
      if (isFault(endpoint, status, body) && faults.length < MOST_FAULTS)
        faults.push({ request: JSON.stringify(asked).slice(0, 2_000), status, body: body.slice(0, 1_000) });
    }
  });
  await Promise.all(callers);
  agent.destroy();
  return { sent, statuses, faults };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

function makeRequest(
  { method, path, params, query, body }: HttpEndpoint,
  token: string,
  chance: Chance,
): Asked {
  const named =
    asSchema(params) === undefined ? {} : (generate(asSchema(params) as Schema, chance) as object);
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = chance() < 0.1 ? distort('', chance) : (named as Record<string, unknown>)[name];
    return inUrl(value ?? 'id-1');
  });
  const text = body === undefined ? undefined : writeMessage(body as unknown as Schema, chance);
  const sentBody = chance() < 0.05 ? '{}' : text;
  return {
    method: chance() < 0.03 ? oneOf(chance, ['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE']) : method,
    path: `${filled}${chance() < 0.1 ? oneOf(chance, TAILS) : ''}${queryOf(asSchema(query), chance)}`,
    headers: {
      ...(sentBody !== undefined && { 'content-type': oneOf(chance, TYPES) }),
      ...(chance() < 0.5
        ? { authorization: `Bearer ${token}` }
        : chance() < 0.1 && {
            authorization: oneOf(chance, ['Bearer', 'Bearer x', 'Basic eDp5', 'Bearer a b']),
          }),
      ...(chance() < 0.05 && { 'idempotency-key': oneOf(chance, ['', 'key', 'x'.repeat(300)]) }),
    },
    body: sentBody,
  };
}

const asSchema = (schema: HttpEndpoint['query']): Schema | undefined =>
  schema as unknown as Schema | undefined;

function queryOf(schema: Schema | undefined, chance: Chance): string {
  if (schema === undefined) return '';
  const value = generate(schema, chance);
  const fields = Object.entries((chance() < 0.3 ? distort(value, chance) : value) ?? {});
  const text = fields.map(([name, field]) => `${encodeURIComponent(name)}=${inUrl(field)}`);
  return text.length === 0 ? '' : `?${text.join('&').slice(0, 4_000)}`;
}

/** As text for a URL; encodeURIComponent refuses half a surrogate pair. */
function inUrl(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '\ufffd'));
}

/** Status 0: no answer in time, or the connection was closed. */
function send(
  port: number,
  agent: Agent,
  { method, path, headers, body }: Asked,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    let status = 0;
    let text = '';
    const end = (): void => {
      clearTimeout(timer);
      sent.destroy();
      resolve({ status, body: text });
    };
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path: escaped(path),
      headers: { ...headers, ...length },
      agent,
    });
    const timer = setTimeout(end, PATIENCE_MS);
    sent.on('response', (reply: IncomingMessage) => {
      status = reply.statusCode ?? 0;
      reply.on('data', (chunk: Buffer) => {
        if (text.length < 4_000) text += chunk.toString();
      });
      reply.on('end', () => {
        clearTimeout(timer);
        resolve({ status, body: text });
      });
      reply.on('error', end);
    });
    sent.on('error', end);
    sent.end(body);
  });
}

/** Node.js sends no path with these. */
const escaped = (path: string): string => path.replace(/[^\x21-\xff]/g, '%20');

/**
 * Whether the nodes of the fuzz can serve a job is chance: these say that they cannot. The protocol answers so where a job is
 * placed or read; every other 5xx is a fault.
 */
const OF_THE_FLEET: ReadonlySet<unknown> = new Set([
  'NO_CAPABLE_NODE',
  'ALL_CANDIDATES_FULL_OR_FAILED',
  'NO_AVAILABLE_NODE',
  'NODE_UNAVAILABLE',
  'NODE_OVERLOADED',
  'ACK_TIMEOUT',
  'JOB_TIMEOUT',
]);

export function isFault(endpoint: HttpEndpoint, status: number, body: string): boolean {
  if (status < 500) return false;
  const code = codeIn(body);
  const listed = codesByStatus(endpoint).get(status) ?? [];
  return !OF_THE_FLEET.has(code) || !listed.some((each) => each === code);
}

function codeIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { error?: unknown }).error;
  } catch {
    return undefined;
  }
}
