/** SSRF: a node registers an endpoint, and the scheduler would call an address that only the scheduler reaches. */
import { type AddressInfo, createServer } from 'node:net';
import { type Attack, broke, held, PULL_NODE, UTTERANCE } from '../attack.ts';
import { TOKENS } from '../deployments.ts';

/** Spellings of loopback and of the address at which clouds serve their credentials, and tricks with URLs. */
const SPELLINGS = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://0177.0.0.1/',
  'http://0x7f.0.0.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://017700000001/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0:0:0:0:ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[fe80::1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://0/',
  'http://0.0.0.0/',
  'http://169.254.169.254/latest/meta-data',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://10.0.0.1@169.254.169.254/',
  'http://169.254.169.254#10.0.0.1',
  'http://169.254.169.254\\@10.0.0.1/',
  'http://10.0.0.1\t@169.254.169.254/',
  'http://①②⑦.⓪.⓪.①/',
  'file:///etc/passwd',
  'gopher://10.0.0.1:6379/_FLUSHALL',
  'ftp://10.0.0.1/',
  '//169.254.169.254/',
  'javascript:alert(1)',
];

export const ATTACKS: readonly Attack[] = [
  {
    name: 'callback-to-inner-address',
    point: 16,
    does: `Registers a node whose endpoint is a forbidden address in ${SPELLINGS.length} spellings`,
    modes: ['single'],
    async run(target) {
      const register = (endpoint: string) =>
        target.call('POST', '/v1/node/register', {
          token: TOKENS.node,
          body: { ...PULL_NODE, node_id: 'node-of-ssrf', endpoint },
        });
      for (const endpoint of SPELLINGS) {
        const { status } = await register(endpoint);
        if (status < 400 || status >= 500)
          return broke(`${JSON.stringify(endpoint)} was answered with ${status}`);
      }
      const honest = await register('http://10.0.0.9:9000/jobs');
      return honest.status === 200
        ? held('every spelling was refused')
        : broke('an allowed address was refused');
    },
  },
  {
    name: 'callback-to-inner-name',
    point: 16,
    does: 'Registers a node whose endpoint is a name of a forbidden address, and lets a job be sent there',
    modes: ['single', 'redis'],
    async run(target) {
      let connections = 0;
      const inner = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = inner.address() as AddressInfo;
        const languages = { semantic_langs: ['en', 'da'], nmt_pairs: [['en', 'da']], tts_langs: ['da'] };
        const body = {
          ...PULL_NODE,
          ...languages,
          node_id: 'node-of-name',
          endpoint: `http://localhost:${port}/`,
        };
        await target.call('POST', '/v1/node/register', { token: TOKENS.node, body });
        const { status, body: answer } = await target.call('POST', '/v1/dispatch/f2f', {
          token: TOKENS.acme,
          body: { ...UTTERANCE, tgt_lang: 'da' },
        });
        if (connections > 0) return broke(`the scheduler connected ${connections} times`);
        if (!String(answer.detail).includes('had the job')) return broke(`the job was not tried: ${status}`);
        return held(`no connection; the dispatch was answered with ${status}`);
      } finally {
        inner.close();
      }
    },
  },
];
