/** A node token declares more languages than the memory of the fleet can hold. */
import { type Attack, broke, held, PULL_NODE, type Target } from '../attack.ts';
import { MAIN, TOKENS } from '../deployments.ts';

const NODES = 300;
const LANGUAGES = 1_000;
/** A heap that the declarations would fill if they were kept. */
const SMALL_HEAP = ['--max-old-space-size=256'];

const languagesOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

const register = (target: Target, token: string, nodeId: string, langs: readonly string[]) =>
  target.call('POST', '/v1/node/register', {
    token,
    timeoutMs: 20_000,
    body: { ...PULL_NODE, node_id: nodeId, semantic_langs: langs, nmt_pairs: 'any_to_any', tts_langs: langs },
  });

export const ATTACKS: readonly Attack[] = [
  {
    name: 'made-up-languages',
    point: 1,
    does: `Registers ${NODES} nodes with ${LANGUAGES} made-up languages each`,
    modes: ['single', 'redis'],
    on: { ...MAIN, nodeFlags: SMALL_HEAP },
    isSlow: true,
    limitMs: 120_000,
    async run(target) {
      let refused = 0;
      for (let node = 0; node < NODES; node += 1) {
        const langs = languagesOf(`x${node}`, LANGUAGES);
        const { status } = await register(target, TOKENS.node, `node-${node}`, langs);
        if (status >= 500) return broke(`registration ${node} was answered with ${status}`);
        if (status >= 400) refused += 1;
      }
      const honest = await register(target, TOKENS.pinned, 'node-pinned', languagesOf('q', 200));
      if (honest.status !== 200) return broke(`an honest node with 200 languages got ${honest.status}`);
      return refused > 0
        ? held(`${refused} of ${NODES} nodes were refused`)
        : broke('every node was accepted');
    },
  },
];
