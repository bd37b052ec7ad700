/** Paths that leave their folder, end a string early, or are no paths. */
import { type Attack, broke, held } from '../attack.ts';
import { exchange } from '../raw-exchange.ts';

const PATHS = [
  '/docs/static/..',
  '/docs/static/../../../../../../etc/passwd',
  '/docs/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
  '/docs/static/..%2f..%2f..%2fetc%2fpasswd',
  '/docs/static/..%5c..%5cetc%5cpasswd',
  '/docs/static/%00',
  '/docs/%00',
  '/%00',
  '/assets/../../package.json',
  '/assets/%2e%2e/%2e%2e/package.json',
  '/..%00/',
  '/%ff%fe',
  '/%',
  '/%zz',
  '//etc/passwd',
  '/v1/job/%00',
  '/v1/job/%2e%2e',
  '/v1/audio/..%2f..%2fetc%2fpasswd',
  '/api/v1/nodes/%00/drain',
  `/${'a'.repeat(15_000)}`,
  'http://127.0.0.1:6379/',
  '*',
];

export const ATTACKS: readonly Attack[] = [
  {
    name: 'garbage-paths',
    point: 7,
    does: `Requests ${PATHS.length} paths that leave their folder or are malformed`,
    modes: ['single'],
    async run({ port }) {
      for (const path of PATHS) {
        const bytes = `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
        const { statuses, text } = await exchange(port, bytes, 5_000);
        const [status = 0] = statuses;
        if (/root:|"workspaces"|"dependencies"/.test(text)) return broke(`${path} sent a file`);
        if (status >= 500) return broke(`${path.slice(0, 80)} was answered with ${status}`);
      }
      return held('no file, and no 5xx');
    },
  },
];
