/** Posts jobs to the callback endpoints of nodes: only into permitted networks, bounded in time, size and connections. */
import { createHmac } from 'node:crypto';
import { lookup as resolve } from 'node:dns';
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { CallResult, EndpointCaller } from '../../ports/endpoint-caller.ts';

export interface EndpointCallerDeps {
  readonly networks: { readonly isEmpty: boolean; includes(address: string): boolean };
  /** Connections per endpoint, and in total. */
  readonly maxSocketsPerHost?: number;
  readonly maxSockets?: number;
  /** Signs every body; absent: bodies are not signed. */
  readonly signingKey?: string | undefined;
  /** Epoch ms. */
  readonly now?: () => number;
  /** Like dns.lookup; replaced by tests. */
  readonly resolve?: typeof resolve;
}

const MAX_ANSWER_BYTES = 64 * 1024;
const IDLE_MS = 30_000;
const FORBIDDEN = 'ERR_ENDPOINT_FORBIDDEN';

export function createEndpointCaller(deps: EndpointCallerDeps): EndpointCaller & { close(): void } {
  const { networks, now = Date.now } = deps;
  const pool = {
    keepAlive: true,
    timeout: IDLE_MS,
    maxSockets: deps.maxSocketsPerHost ?? 32,
    maxTotalSockets: deps.maxSockets ?? 1_024,
    maxFreeSockets: 256,
  };
  const agent = new Agent(pool);
  const secureAgent = new SecureAgent(pool);
  const lookup = createGuardedLookup(deps);

  function permitted(text: string): URL | undefined {
    const url = parse(text);
    if (url === undefined || networks.isEmpty) return undefined;
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
    if (url.username !== '' || url.password !== '') return undefined;
    const host = hostOf(url);
    // A host name is judged by its resolved address at each connection, because it may change at any time.
    return isIP(host) === 0 || networks.includes(host) ? url : undefined;
  }

  function open(url: URL, body: string): ClientRequest {
    const options = {
      method: 'POST',
      lookup,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...(deps.signingKey !== undefined && signatureOf(deps.signingKey, body, now())),
      },
    };
    return url.protocol === 'https:'
      ? requestHttps(url, { ...options, agent: secureAgent })
      : requestHttp(url, { ...options, agent });
  }

  return {
    permits: (url) => permitted(url) !== undefined,
    post(text, body, timeoutMs) {
      const url = permitted(text);
      if (url === undefined)
        return Promise.resolve({ kind: 'forbidden', reason: 'outside the permitted networks' });
      return new Promise((settle) => {
        const request = open(url, body);
        const timer = setTimeout(() => request.destroy(new Error('no answer in time')), timeoutMs);
        const end = (result: CallResult) => {
          clearTimeout(timer);
          settle(result);
        };
        let isConnected = false;
        request.on('socket', (socket) => {
          if (!socket.connecting) isConnected = !socket.destroyed;
          else
            socket.once('connect', () => {
              isConnected = true;
            });
        });
        request.on('error', (error) => end(failureOf(error, isConnected)));
        let hasAnswer = false;
        request.on('response', (response) => {
          hasAnswer = true;
          readAnswer(response, end);
        });
        // An answer with a protocol upgrade ends the request without a response and without an error.
        request.on('close', () => {
          if (!hasAnswer) end({ kind: 'unreachable', reason: 'no_answer' });
        });
        request.end(body);
      });
    },
    close() {
      agent.destroy();
      secureAgent.destroy();
    },
  };
}

/** The time is signed too, so that a receiver can refuse a recorded request. */
function signatureOf(key: string, body: string, now: number) {
  const timestamp = String(Math.floor(now / 1_000));
  const digest = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
  return { 'x-lingua-timestamp': timestamp, 'x-lingua-signature': `sha256=${digest}` };
}

/** Resolves a name and keeps only permitted addresses, so that the checked address is the one connected to (no DNS rebinding). */
function createGuardedLookup(deps: EndpointCallerDeps): LookupFunction {
  const ask = deps.resolve ?? resolve;
  return (host, options, done) => {
    ask(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, []);
      const addresses = found.filter(({ address }) => deps.networks.includes(address));
      const [first] = addresses;
      if (first === undefined) {
        return done(Object.assign(new Error('outside the permitted networks'), { code: FORBIDDEN }), []);
      }
      if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/** The status decides. The body is read, up to a limit, only so that the connection can be reused. */
function readAnswer(response: IncomingMessage, end: (result: CallResult) => void): void {
  const result = resultOf(response.statusCode ?? 0);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  response.once('close', () => end(result));
  // The connection broke after the status: the status still counts.
  response.on('error', () => end(result));
}

function resultOf(status: number): CallResult {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if (status === 429 || status === 503) return { kind: 'overloaded', reason: `status_${status}` };
  const isRedirect = status >= 300 && status < 400;
  const reason = isRedirect ? 'redirect' : `status_${status}`;
  const isOpen = status < 300 || status >= 500 || MAY_HAVE_IT.has(status);
  return { kind: isOpen ? 'unreachable' : 'declined', reason };
}

/** Request timeout, or a conflict, perhaps with an earlier try of the same request. */
const MAY_HAVE_IT: ReadonlySet<number> = new Set([408, 409]);

function failureOf(error: NodeJS.ErrnoException, isConnected: boolean): CallResult {
  if (error.code === FORBIDDEN) return { kind: 'forbidden', reason: error.message };
  return { kind: isConnected ? 'unreachable' : 'declined', reason: error.code ?? error.message };
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
