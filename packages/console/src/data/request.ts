/** Calls the HTTP API of the scheduler that served this page, below whatever path it was served at. */
import type { ErrorReply } from '@lingua/protocol';
import { needsLogin, token } from './credentials.ts';

export class RequestError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;

  constructor(status: number, code: string, message: string, hint: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: object;
  readonly signal?: AbortSignal;
}

export const addressOf = (path: string): string =>
  new URL(path.replace(/^\//, ''), document.baseURI.split('#', 1)[0]).href;

/** The reply, whatever its body; refusals are thrown with what the server says about them. */
export async function send(path: string, { method = 'GET', body, signal }: RequestOptions = {}) {
  let response: Response;
  try {
    response = await fetch(addressOf(path), {
      method,
      headers: {
        ...(token.peek() !== '' && { authorization: `Bearer ${token.peek()}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new RequestError(0, 'UNREACHABLE', '', '');
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

export const request = async <Reply>(path: string, options?: RequestOptions): Promise<Reply> =>
  (await (await send(path, options)).json()) as Reply;

async function refusalOf(response: Response): Promise<RequestError> {
  if (response.status === 401) needsLogin.value = token.peek() === '' ? 'missing' : 'refused';
  const reply = (await response.json().catch(() => ({}))) as Partial<ErrorReply>;
  const { error = `HTTP_${response.status}`, detail = response.statusText, hint = '' } = reply;
  return new RequestError(response.status, error, detail, hint);
}
