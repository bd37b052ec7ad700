/** Two readings of one stream of bytes: a proxy sees one request, the scheduler two. */
import { type Attack, broke, held } from '../attack.ts';
import { exchange } from '../raw-exchange.ts';

const HIDDEN = 'GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n';
const HEAD = 'POST /v1/dispatch/f2f HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
const ENDED = `0\r\n\r\n${HIDDEN}`;

/** Whole requests whose framing is ambiguous or malformed. `HIDDEN` must never be answered. */
const STREAMS: Readonly<Record<string, string>> = {
  'length and chunked': `${HEAD}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n${ENDED}`,
  'chunked and length': `${HEAD}transfer-encoding: chunked\r\ncontent-length: ${ENDED.length}\r\n\r\n${ENDED}`,
  'two lengths': `${HEAD}content-length: 2\r\ncontent-length: ${2 + HIDDEN.length}\r\n\r\n{}${HIDDEN}`,
  'a list of lengths': `${HEAD}content-length: 2, 3\r\n\r\n{}${HIDDEN}`,
  'a length with a sign': `${HEAD}content-length: +2\r\n\r\n{}${HIDDEN}`,
  'a negative length': `${HEAD}content-length: -1\r\n\r\n${HIDDEN}`,
  'a hexadecimal length': `${HEAD}content-length: 0x2\r\n\r\n{}${HIDDEN}`,
  'a huge length': `${HEAD}content-length: 99999999999999999999\r\n\r\n{}${HIDDEN}`,
  'a length with a space before its colon': `${HEAD}content-length : 2\r\n\r\n{}${HIDDEN}`,
  'chunked with a space before its colon': `${HEAD}transfer-encoding : chunked\r\n\r\n${ENDED}`,
  'an unknown coding': `${HEAD}transfer-encoding: xchunked\r\n\r\n${ENDED}`,
  'chunked before another coding': `${HEAD}transfer-encoding: chunked, identity\r\n\r\n${ENDED}`,
  'chunked twice': `${HEAD}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n${ENDED}`,
  'chunked after a vertical tab': `${HEAD}transfer-encoding: \vchunked\r\ncontent-length: 0\r\n\r\n${ENDED}`,
  'a folded header': `${HEAD}transfer-encoding:\r\n chunked\r\ncontent-length: 0\r\n\r\n${ENDED}`,
  'a chunk size with a sign': `${HEAD}transfer-encoding: chunked\r\n\r\n+2\r\n{}\r\n${ENDED}`,
  'a chunk size with 0x': `${HEAD}transfer-encoding: chunked\r\n\r\n0x2\r\n{}\r\n${ENDED}`,
  'a huge chunk size': `${HEAD}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n${ENDED}`,
  'a chunk longer than its size': `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\n{}\r\n${ENDED}`,
  'NUL in a header': `${HEAD}x-a: a\0b\r\ncontent-length: 0\r\n\r\n${HIDDEN}`,
  'a carriage return in a header': `${HEAD}x-a: a\rcontent-length: 0\r\n\r\n${HIDDEN}`,
  'a header without a name': `${HEAD}: 1\r\ncontent-length: 0\r\n\r\n${HIDDEN}`,
  'two hosts': `GET /health/live HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\ncontent-length: 2, 2\r\n\r\n${HIDDEN}`,
  'an invented version': `GET /health/live HTTP/9.9\r\nhost: localhost\r\n\r\n${HIDDEN}`,
  'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'a PROXY header': `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n${HIDDEN}`,
  'the start of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
};

export const ATTACKS: readonly Attack[] = [
  {
    name: 'request-smuggling',
    point: 7,
    does: `Sends ${Object.keys(STREAMS).length} requests with ambiguous framing, and a second request in their body`,
    modes: ['single'],
    async run({ port }) {
      for (const [what, bytes] of Object.entries(STREAMS)) {
        const { statuses } = await exchange(port, Buffer.from(bytes, 'latin1'));
        if (statuses.includes(200)) return broke(`${what}: the hidden request was answered`);
        if (statuses.some((status) => status >= 500 && status !== 501 && status !== 505))
          return broke(`${what}: ${statuses.join(', ')}`);
      }
      const honest = await exchange(port, HIDDEN);
      return honest.statuses[0] === 200
        ? held('no hidden request was answered')
        : broke('/health/live was refused');
    },
  },
];
