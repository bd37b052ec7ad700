/** One tenant takes all it can get of what tenants share. */
import { type Attack, broke, held, PULL_NODE, TOKEN_SETTINGS, TOKENS, UTTERANCE } from '../attack.ts';

const CONFIG = `${TOKEN_SETTINGS}
[scheduler.audio]
max_bytes_total = "1MB"
max_bytes_per_session = "128KB"
max_bytes_per_job = "128KB"
[scheduler.web_task_segmentation]
max_bytes = "128KB"
`;
const JOBS = 20;
const AUDIO = Buffer.alloc(100_000).toString('base64');

export const ATTACKS: readonly Attack[] = [
  {
    name: 'audio-of-one-tenant',
    point: 6,
    does: `Sends ${JOBS} jobs with twice as much audio as the instance stores`,
    modes: ['single', 'redis'],
    config: CONFIG,
    async run(target) {
      const node = { ...PULL_NODE, node_id: 'node-that-never-polls' };
      await target.call('POST', '/v1/node/register', { token: TOKENS.node, body: node });
      const send = (token: string) =>
        target.call('POST', '/v1/dispatch/f2f', { token, body: { ...UTTERANCE, audio: AUDIO } });
      let accepted = 0;
      for (let job = 0; job < JOBS; job += 1) if ((await send(TOKENS.acme)).status === 200) accepted += 1;
      const honest = await send(TOKENS.globex);
      if (honest.status !== 200) return broke(`the job of another tenant got ${honest.status}`);
      return accepted > 0 && accepted < JOBS
        ? held(`${accepted} of ${JOBS} jobs were accepted, and then one of another tenant`)
        : broke(`${accepted} of ${JOBS} jobs were accepted`);
    },
  },
];
