/** A stranger guesses tokens, and fills the audit log with refusals. */
import { eventually } from '../../eventually.ts';
import { type Attack, broke, held } from '../attack.ts';
import { OPEN, TOKENS } from '../deployments.ts';

const GUESSES = 300;
const PATIENCE_MS = 10_000;
const USE = /^{"audit":"useNewAddress".*"who":"ops"/m;
/** Of one address: the first refusal, and the number of the others. */
const MAX_LINES = 4;

export const ATTACKS: readonly Attack[] = [
  {
    name: 'guessed-tokens',
    point: 12,
    does: `Sends ${GUESSES} guessed tokens over HTTP`,
    modes: ['single', 'redis'],
    on: OPEN,
    async run(target) {
      const path = '/api/v1/nodes';
      const statuses = new Map<number, number>();
      for (let count = 0; count < GUESSES; count += 1) {
        const { status } = await target.call('GET', path, { token: `guessed-token-${count}` });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      const throttled = statuses.get(429) ?? 0;
      if (throttled + (statuses.get(401) ?? 0) !== GUESSES)
        return broke(`the statuses ${JSON.stringify([...statuses])}`);
      const log = target.log();
      if (log.includes('guessed-token-')) return broke('a guessed token is in the log');
      const lines = log.split('\n').filter((line) => line.startsWith('{"audit":"refuseCredential"'));
      if (lines.length === 0 || lines.length > MAX_LINES)
        return broke(`${lines.length} lines in the audit log`);
      const stolen = await target.call('GET', path, { token: TOKENS.operator });
      if (stolen.status !== 200) return broke(`a valid token from the same address got ${stolen.status}`);
      // Rejects if the first use of the token is hidden in the audit log, and the attack counts as not held off.
      await eventually(() => USE.test(target.log()), { withinMs: PATIENCE_MS });
      return throttled > 0 ? held(`${throttled} guesses got 429`) : broke('no guess was throttled');
    },
  },
];
