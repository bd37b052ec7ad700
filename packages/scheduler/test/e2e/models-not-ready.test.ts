/** A node whose model is only not ready yet is capable: the refusal says so, and when to try again. */
import { expect, it } from 'vitest';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { startApp } from './support/start-app.ts';

it.each(['asr', 'semantic', 'nmt'])('a node whose %s is not ready is not called incapable', async (cold) => {
  const app = await startApp();
  await joinSdkNode({
    url: app.nodeUrl,
    // As in the README: without translation pairs.
    capabilities: {
      capability_by_type: ['asr', 'semantic', 'nmt'].map((type) => ({ type, ready: type !== cold })),
      language_capabilities: { asr_languages: ['en'], semantic_languages: ['en', 'zh'] },
    },
    onJob: () => OUTPUT,
  });
  const { status, body } = await app.post('/v1/translate', {
    src_lang: 'en',
    tgt_lang: 'zh',
    audio: 'AAAA',
    wait_ms: 0,
  });
  expect([status, body]).toMatchObject([
    503,
    {
      error: 'ALL_CANDIDATES_FULL_OR_FAILED',
      detail: expect.stringContaining('it is not ready'),
      retry_after_ms: expect.any(Number),
    },
  ]);
});
