/** Hot path: asks another instance over HTTP, on connections that are kept, bounded in time and size. */
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import {
  DIRECT_PATH,
  type DirectAnswer,
  type DirectLine,
  type LineAddress,
} from '../../ports/direct-line.ts';

const MAX_ANSWER_BYTES = 64 * 1024;
/** Less than instances keep connections that nobody uses. */
const IDLE_MS = 30_000;

export function createDirectLine(): DirectLine {
  const pool = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 64 };
  const agent = new Agent(pool);
  const secureAgent = new SecureAgent(pool);

  function open({ url, key }: LineAddress, question: string): ClientRequest {
    const to = new URL(`${url.replace(/\/+$/, '')}${DIRECT_PATH}`);
    const options = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'text/plain; charset=utf-8',
        'content-length': Buffer.byteLength(question),
      },
    };
    return to.protocol === 'https:'
      ? requestHttps(to, { ...options, agent: secureAgent })
      : requestHttp(to, { ...options, agent });
  }

  return {
    ask(at, question, limitMs) {
      if (limitMs <= 0) return Promise.resolve(UNREACHED);
      return new Promise((settle) => {
        let isConnected = false;
        const fail = (): void => end(isConnected ? UNCLEAR : UNREACHED);
        let request: ClientRequest;
        try {
          request = open(at, question);
        } catch {
          settle(UNREACHED);
          return;
        }
        const timer = setTimeout(() => request.destroy(new Error('no answer in time')), limitMs);
        const end = (answer: DirectAnswer): void => {
          clearTimeout(timer);
          settle(answer);
        };
        const connected = (): void => {
          isConnected = true;
        };
        request.on('socket', (socket) => {
          if (!socket.connecting) isConnected = !socket.destroyed;
          else socket.once(at.url.startsWith('https:') ? 'secureConnect' : 'connect', connected);
        });
        request.on('error', fail);
        // Also for an answer that wants to change the protocol, which ends the request without an error.
        request.on('close', fail);
        request.on('response', (response) => read(response, end));
        request.end(question);
      });
    },
    close() {
      agent.destroy();
      secureAgent.destroy();
    },
  };
}

/** Settled once: whatever ends the request after that says nothing more. */
function read(response: IncomingMessage, end: (answer: DirectAnswer) => void): void {
  const { statusCode = 0 } = response;
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
    else chunks.push(chunk);
  });
  response.on('error', () => end(UNCLEAR));
  if (statusCode !== 200) end(refusalOf(statusCode));
  else response.on('end', () => end({ kind: 'answered', text: Buffer.concat(chunks, bytes).toString() }));
}

/** Whoever refuses so has not looked at it. What leads elsewhere is not followed. One that is too long says nothing of the next. */
function refusalOf(status: number): DirectAnswer {
  if (status === 503 || status === 413) return BUSY;
  return status >= 300 && status < 500 && status !== 408 ? UNREACHED : UNCLEAR;
}

const BUSY: DirectAnswer = { kind: 'busy' };
const UNREACHED: DirectAnswer = { kind: 'unreached' };
const UNCLEAR: DirectAnswer = { kind: 'unclear' };
