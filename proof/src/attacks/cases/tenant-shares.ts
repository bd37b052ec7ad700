/** One tenant takes all it can get of what tenants share. */
import { type Attack, broke, held, PULL_NODE, UTTERANCE } from '../attack.ts';
import { MAIN_TOKENS, MAX_AUDIO_BYTES, TOKENS } from '../deployments.ts';

const AUDIO_BYTES = 200_000;
const JOBS = (2 * MAX_AUDIO_BYTES) / AUDIO_BYTES;
const AUDIO = Buffer.alloc(AUDIO_BYTES).toString('base64');

export const ATTACKS: readonly Attack[] = [
  {
    name: 'audio-of-one-tenant',
    point: 6,
    does: `Sends ${JOBS} jobs with twice as much audio as the instance stores`,
    modes: ['single', 'redis'],
    async run(target) {
      const node = { ...PULL_NODE, node_id: 'node-that-never-polls' };
      await target.call('POST', '/v1/node/register', { token: TOKENS.node, body: node });
      const send = (token: string) =>
        target.call('POST', '/v1/dispatch/f2f', { token, body: { ...UTTERANCE, audio: AUDIO } });
      let accepted = 0;
      for (let job = 0; job < JOBS; job += 1)
        if ((await send(MAIN_TOKENS.greedy)).status === 200) accepted += 1;
      const honest = await send(TOKENS.globex);
      if (honest.status !== 200) return broke(`the job of another tenant got ${honest.status}`);
      return accepted > 0 && accepted < JOBS
        ? held(`${accepted} of ${JOBS} jobs were accepted, and then one of another tenant`)
        : broke(`${accepted} of ${JOBS} jobs were accepted`);
    },
  },
];
