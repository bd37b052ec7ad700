// A node in Node.js: node examples/node.mjs. Put your models where it says so.
// LINGUA_NODE_URL names the scheduler's socket, LINGUA_TOKEN is a token of a node if the scheduler requires one.
import { createNode, JobError } from '@lingua/sdk/node';

const GREETINGS = { de: 'Guten Tag', en: 'Good day', fr: 'Bonjour', nl: 'Goedendag' };
const languages = Object.keys(GREETINGS);

const { LINGUA_NODE_URL: url = 'ws://127.0.0.1:5010/ws/node', LINGUA_TOKEN: token } = process.env;
const node = createNode({
  url,
  token,
  maxConcurrentJobs: 2,
  capabilities: {
    capability_by_type: ['asr', 'semantic', 'nmt'].map((type) => ({ type, ready: true })),
    language_capabilities: { asr_languages: languages, semantic_languages: languages },
  },
  async onJob(job, { audio, partial }) {
    const sound = await audio();
    if (job.audio_format !== 'pcm16')
      throw new JobError('PROCESSING_ERROR', `cannot decode ${job.audio_format}`);
    // Here your models recognise and translate. Texts on the way go to the speaker at once.
    const heard = `${(sound.length / 2 / job.sample_rate).toFixed(1)} s of speech`;
    partial(heard);
    return { text_asr: heard, text_translated: `${GREETINGS[job.tgt_lang]} (${heard})` };
  },
  // An operator drains it, or it is asked to end: running jobs finish first.
  onDrain: leave,
});

async function leave() {
  await node.drain();
  await node.stop();
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, leave);

await node.start();
console.log('registered');
