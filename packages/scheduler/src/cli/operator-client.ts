/** Requests of operator commands to a running scheduler; an error text includes the next step. */
import type { ErrorReply } from '@lingua/protocol';

/** Ends a command with this text and status 1. */
export class CommandFailure extends Error {
  /** Every further request would fail in the same way. */
  readonly isFinal: boolean;
  /** The scheduler refused the credential or the request: it will refuse a repeat. */
  readonly isRefused: boolean;

  constructor(
    message: string,
    {
      isFinal = false,
      isRefused = false,
      cause,
    }: { isFinal?: boolean; isRefused?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.isFinal = isFinal;
    this.isRefused = isRefused;
  }
}

export interface OperatorClient {
  /** Rejects with a CommandFailure unless the answer is a success. */
  call<Reply>(method: 'GET' | 'POST' | 'DELETE', path: string, query?: Query, body?: object): Promise<Reply>;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const ANSWER_MS = 15_000;

export function createOperatorClient(deps: {
  readonly url: string;
  readonly token: string | undefined;
  readonly interrupted: AbortSignal;
  readonly answerMs?: number;
}): OperatorClient {
  const { url, token, answerMs = ANSWER_MS } = deps;
  const base = url.replace(/\/+$/, '');

  async function send(
    method: string,
    path: string,
    body: object | undefined,
  ): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.any([deps.interrupted, AbortSignal.timeout(answerMs)]);
    try {
      const response = await fetch(base + path, {
        method,
        signal,
        redirect: 'manual',
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      if (deps.interrupted.aborted) throw new CommandFailure('interrupted', { isFinal: true });
      throw new CommandFailure(
        `no scheduler answers at ${url} (${reasonOf(error, answerMs)}); is it running? --url sets the address`,
        { cause: error, isFinal: true },
      );
    }
  }

  return {
    async call<Reply>(
      method: 'GET' | 'POST' | 'DELETE',
      path: string,
      query: Query = {},
      sent?: object,
    ): Promise<Reply> {
      const { status, text } = await send(method, path + print(query), sent);
      const body = parse(text);
      if (status === 200 && body !== undefined) return body as Reply;
      const isFinal = status === 401 || status === 403;
      const isRefused = status >= 400 && status < 500;
      throw new CommandFailure(refusal(url, token !== undefined, status, body), { isFinal, isRefused });
    },
  };
}

function print(query: Query): string {
  const fields = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`;
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function refusal(url: string, hasToken: boolean, status: number, body: object | undefined): string {
  const { error, detail, hint } = (body ?? {}) as Partial<ErrorReply>;
  if (error === undefined || detail === undefined)
    return `what answers at ${url} is no Lingua scheduler (status ${status}); --url must be its address, such as http://127.0.0.1:5010`;
  if (status === 401)
    return hasToken
      ? `the scheduler at ${url} does not know this token; use one of server.tokens with role "operator"`
      : `the scheduler at ${url} requires a token: give one of role "operator" with --token-file, --token or LINGUA_TOKEN`;
  if (status === 403)
    return `this token may not do that (${detail}); use one of server.tokens with role "operator"`;
  if (detail === NO_SUCH_PATH)
    return `the scheduler at ${url} is too old for this command; update it, or use its own version of lingua`;
  return hint === undefined ? detail : `${detail}. ${hint}`;
}

/** The answer of a scheduler for an unknown path. */
const NO_SUCH_PATH = 'there is no such path';

/** The cause is more precise than "fetch failed". */
function reasonOf(error: unknown, answerMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${answerMs / 1_000} s`;
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.message;
}
