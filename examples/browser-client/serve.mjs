// Serves the page and the client SDK that it imports: node examples/browser-client/serve.mjs [PORT]. Any static web server can do it.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';

const [port = '8000'] = process.argv.slice(2);
/** The folder of the SDK that has `client/`. */
const sdk = new URL('../', import.meta.resolve('@lingua/sdk/client'));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };

const server = createServer(async ({ url = '/' }, response) => {
  // URL takes out ".." and its encoded forms, so a path stays below its folder.
  const { pathname } = new URL(url, 'http://localhost');
  const file = pathname.startsWith('/sdk/')
    ? new URL(`.${pathname.slice('/sdk'.length)}`, sdk)
    : new URL(`.${pathname === '/' ? '/index.html' : pathname}`, import.meta.url);
  try {
    const content = await readFile(file);
    response.writeHead(200, { 'content-type': TYPES[extname(file.pathname)] ?? 'text/plain' }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});
server.listen(Number(port), '127.0.0.1', () =>
  console.log(`open http://127.0.0.1:${server.address().port}/`),
);
