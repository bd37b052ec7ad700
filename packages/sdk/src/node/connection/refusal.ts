/** Why the scheduler refuses a node, and whether a retry may help. */
import type { IncomingMessage } from 'node:http';

/** The scheduler refuses the node, and a retry would not help. start() rejects with it. */
export class StartError extends Error {
  /** Such as UNAUTHORIZED; NOT_FOUND if the url is not a Lingua scheduler. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'StartError';
    this.code = code;
  }
}

/** Errors that a registration would get again at every retry. */
const PERMANENT = new Set([
  'UNAUTHORIZED',
  'FORBIDDEN',
  'INVALID_MESSAGE',
  'INVALID_CAPABILITY_SCHEMA',
  'NO_GPU_AVAILABLE',
  'NODE_ID_CONFLICT',
]);
/** Longer bodies are not from a scheduler. */
const MAX_BODY_BYTES = 16_384;

/** The error of a registration; undefined: a retry may help. */
export const refusalOfRegistration = (code: string, message: string): StartError | undefined =>
  PERMANENT.has(code) ? new StartError(code, `${code}: ${message}`) : undefined;

export interface UpgradeRefusal {
  readonly reason: string;
  /** Undefined: a retry may help. */
  readonly error: StartError | undefined;
}

/** The answer to an upgrade that is not an upgrade. */
export async function readUpgradeRefusal(url: string, response: IncomingMessage): Promise<UpgradeRefusal> {
  const status = response.statusCode ?? 0;
  const body = Object(await readJson(response)) as { error?: unknown; detail?: unknown };
  const { error: code, detail } = body;
  const reason = typeof detail === 'string' ? `${status}: ${detail}` : `${status}`;
  // A proxy answers so while the scheduler restarts.
  if (status >= 500 || status === 408 || status === 429) return { reason, error: undefined };
  if (typeof code === 'string' && PERMANENT.has(code))
    return { reason, error: new StartError('UNAUTHORIZED', `the scheduler answered ${reason}`) };
  const { origin, pathname } = new URL(url);
  const message = `${origin}${pathname} is not a Lingua scheduler: it answered ${reason}; the path is /ws/node`;
  return { reason, error: new StartError('NOT_FOUND', message) };
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  let text = '';
  try {
    for await (const part of response) {
      text += String(part);
      if (text.length > MAX_BODY_BYTES) return undefined;
    }
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
