/** Real curl, because the API must be usable with it alone. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface CurlAnswer<Body> {
  readonly status: number;
  readonly body: Body;
}

/** Arguments as in a shell; the reply is JSON. */
export async function curl<Body = Record<string, unknown>>(...args: string[]): Promise<CurlAnswer<Body>> {
  const { text, status } = await curlText(...args);
  return { status, body: JSON.parse(text) as Body };
}

export async function curlText(...args: string[]): Promise<{ status: number; text: string }> {
  const stdout = await execute(['-sS', '--max-time', '20', '-w', '\n%{http_code}', ...args]);
  const at = stdout.lastIndexOf('\n');
  return { text: stdout.slice(0, at), status: Number(stdout.slice(at + 1)) };
}

async function execute(args: string[]): Promise<string> {
  try {
    return (await run('curl', args)).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new Error('these tests need curl: install it (Debian: apt-get install curl)', { cause: error });
    }
    throw error;
  }
}

/** `curl URL -H 'content-type: application/json' -d BODY` */
export const curlPost = <Body = Record<string, unknown>>(url: string, body: string) =>
  curl<Body>(url, '-H', 'content-type: application/json', '-d', body);
