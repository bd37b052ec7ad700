/** Serves the built files of the console. They contain no data: the console reads everything through the API, with its token. */
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const INDEX = 'index.html';
/** Its names contain a digest of the content. */
const HASHED = 'assets/';

const POLICY =
  "default-src 'none'; img-src 'self' data:; style-src 'self'; font-src 'self'; media-src 'self' blob:; connect-src 'self'; " +
  "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'self'";

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
const COMPRESSED = new Set(['.css', '.html', '.js', '.json', '.map', '.svg', '.webmanifest']);

const NOT_BUILT = `The console is not built.

Build it in the folder of the scheduler: npm run build
Then restart the scheduler. To serve no console at all: server.console = false
The HTTP API works without it: /docs describes it.
`;

const compress = promisify(gzip);

/** `folder`: the built files. `basePath`: what a proxy leaves in front of every path. */
export function addConsole(app: FastifyInstance, at: { folder: string; basePath: string }): void {
  const files = existsSync(join(at.folder, INDEX)) ? listFiles(at.folder) : [];
  if (files.length === 0) {
    app.get('/', (_request, reply) =>
      secure(reply).code(503).header('content-type', 'text/plain; charset=utf-8').send(NOT_BUILT),
    );
    return;
  }
  for (const file of files) {
    const serve = createFile(at.folder, file);
    app.get(`/${file}`, serve);
    if (file === INDEX) {
      app.get('/', (request, reply) => {
        // The page names its files relative to its own address, which must end with a slash.
        const [path] = request.originalUrl.split('?', 1);
        return path === at.basePath && path !== ''
          ? reply.redirect(`${at.basePath}/`, 308)
          : serve(request, reply);
      });
    }
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length)
        .replace(/^[\\/]/, ''),
    )
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
}

/** Read and compressed at the first request, then kept. */
function createFile(folder: string, file: string) {
  const extension = extname(file);
  const isCompressed = COMPRESSED.has(extension);
  let kept: Promise<{ readonly plain: Buffer; readonly packed: Buffer | undefined }> | undefined;

  async function read() {
    const plain = await readFile(join(folder, file));
    return { plain, packed: isCompressed ? await compress(plain) : undefined };
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    kept ??= read();
    const { plain, packed } = await kept.catch((fault: unknown) => {
      kept = undefined;
      throw fault;
    });
    const takesPacked = packed !== undefined && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    secure(reply)
      .header('content-type', TYPES[extension] ?? 'application/octet-stream')
      .header('cache-control', file.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (packed !== undefined) reply.header('vary', 'accept-encoding');
    return takesPacked ? reply.header('content-encoding', 'gzip').send(packed) : reply.send(plain);
  };
}

const secure = (reply: FastifyReply): FastifyReply =>
  reply
    .header('content-security-policy', POLICY)
    .header('permissions-policy', 'microphone=(self), camera=(), geolocation=()')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('x-content-type-options', 'nosniff');
