/** Answers requests to an unknown path, or with a method that its path does not have. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DeclaredRoute } from './declare-route.ts';
import { replyError } from './handle-error.ts';

const IN_REPOSITORY = 'openapi.json in the documents of the scheduler lists all paths.';
const SOCKET_PATHS: ReadonlySet<string> = new Set(['/ws/session', '/ws/node']);

export function createHandleUnknownRoute(declared: readonly DeclaredRoute[], hasDocs: boolean) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [path = ''] = request.url.split('?', 1);
    if (SOCKET_PATHS.has(path)) {
      return replyError(reply.header('upgrade', 'websocket').header('connection', 'upgrade'), {
        code: 'INVALID_MESSAGE',
        status: 426,
        detail: `${path} is a WebSocket, and this is a plain HTTP request`,
        hint: `Open it as a WebSocket (ws:// or wss://); docs/protocol.md lists its messages.`,
      });
    }
    const methods = declared.filter((route) => matches(route.path, path)).map((route) => route.method);
    if (methods.length === 0) {
      // So that the client SDK in a page can read that the path is wrong.
      reply.header('access-control-allow-origin', '*');
      return replyError(reply, {
        code: 'NOT_FOUND',
        detail: 'there is no such path',
        hint: hasDocs ? 'GET /docs lists all of them.' : IN_REPOSITORY,
      });
    }
    const allow = [...new Set(methods)].join(', ');
    return replyError(reply.header('allow', allow), {
      code: 'NOT_FOUND',
      status: 405,
      detail: `${request.method} is not possible here, only ${allow}`,
      hint: hasDocs ? 'GET /docs lists all paths and their methods.' : IN_REPOSITORY,
    });
  };
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/');
  const found = path.split('/');
  return (
    expected.length === found.length &&
    expected.every((part, index) => part.startsWith(':') || part === found[index])
  );
}
