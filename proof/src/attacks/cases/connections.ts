/** Connections that only take room, and texts that want to be log lines. */
import { connect, type Socket } from 'node:net';
import { eventually } from '../../eventually.ts';
import { type Attack, broke, held, type Target } from '../attack.ts';
import { MAX_IDLE, OPEN, TOKENS } from '../deployments.ts';
import { exchange } from '../raw-exchange.ts';

const FLOOD = 400;
/** For the check of Node.js twice a second, and for a busy machine. */
const PATIENCE_MS = 10_000;
const FORGED = '12:00:00.000 error forged';

const levelOf = async (target: Target, metric: string): Promise<number> => {
  const { body } = await target.call<string>('GET', '/metrics', { token: TOKENS.operator });
  const line = body.split('\n').find((each) => each.startsWith(metric));
  return Number(line?.split(' ').at(-1) ?? 0);
};

function openSilent(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(text);
  return socket.resume();
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'idle-connections',
    point: 7,
    does: `Opens ${FLOOD} connections and sends half a request on each`,
    modes: ['single'],
    on: OPEN,
    async run(target) {
      const sockets: Socket[] = [];
      try {
        for (let count = 0; count < FLOOD; count += 1)
          sockets.push(openSilent(target.port, 'GET /health HTTP/1.1\r\nHost: l'));
        const { status } = await target.call('GET', '/health');
        if (status !== 200) return broke(`/health was answered with ${status}`);
        const idle = await levelOf(target, 'scheduler_http_connections{state="idle"}');
        return idle <= MAX_IDLE
          ? held(`${idle} connections stayed open`)
          : broke(`${idle} connections stay open`);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  },
  {
    name: 'slow-headers',
    point: 7,
    does: 'Never ends the headers of a request',
    modes: ['single'],
    on: OPEN,
    async run(target) {
      const { isClosed, statuses } = await exchange(target.port, 'GET / HTTP/1.1\r\nHost: l', PATIENCE_MS);
      const { status } = await target.call('GET', '/health');
      if (status !== 200) return broke(`/health was answered with ${status}`);
      return isClosed ? held(`closed with ${statuses.join()}`) : broke('the connection stayed open');
    },
  },
  {
    name: 'forged-log-lines',
    point: 8,
    does: 'Sends reasons with line breaks and terminal codes to a scheduler with log.pretty',
    modes: ['single'],
    on: OPEN,
    async run(target) {
      await target.call('POST', '/api/v1/nodes/node-1/drain', {
        token: TOKENS.operator,
        body: { reason: `x\n${FORGED}\r\u001b[2K\u202e` },
      });
      await eventually(() => target.log().includes('forged'), { withinMs: PATIENCE_MS });
      const log = target.log();
      if (log.split(/[\r\n]/).some((line) => line.startsWith(FORGED))) return broke('a line of its own');
      if (['\u001b', '\u202e'].some((sign) => log.includes(sign)))
        return broke('a control character in the log');
      return held('one line, escaped');
    },
  },
];
