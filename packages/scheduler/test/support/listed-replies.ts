/** Fails a test whose server answers with a status or an error code that the table of endpoints does not list. */
import { HTTP_ENDPOINTS, type HttpEndpoint } from '@lingua/protocol';
import { codesByStatus } from '../../src/transport/docs/openapi.ts';

/** Called by the HTTP clients of the tests for each reply. Unknown paths are not in the table. */
export function expectListed(method: string, path: string, status: number, body: unknown): void {
  const endpoint = HTTP_ENDPOINTS.find((entry) => entry.method === method && isAt(entry, path));
  if (endpoint === undefined || status === 200 || endpoint.otherReplies?.[status] !== undefined) return;
  const { error, detail } = Object(body) as { error?: string; detail?: string };
  // This server was started without the endpoint.
  if (detail === 'there is no such path') return;
  if (
    codesByStatus(endpoint)
      .get(status)
      ?.some((code) => code === error) === true
  )
    return;
  throw new Error(
    `${endpoint.operationId} answered ${status} ${error}, which its entry in packages/protocol/src/http/endpoints does not list`,
  );
}

function isAt({ path }: HttpEndpoint, requested: string): boolean {
  const parts = (requested.split('?')[0] as string).split('/');
  const names = path.split('/');
  return (
    names.length === parts.length && names.every((name, at) => name.startsWith(':') || name === parts[at])
  );
}
