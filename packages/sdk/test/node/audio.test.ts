/** The sources of a job's audio. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import type { JobHandler, NodeOptions } from '../../src/node/index.ts';
import { until } from './support/scripted-scheduler.ts';
import { startNode } from './support/start-node.ts';

/** Returns the audio as text. */
const listen: JobHandler = async (_, { audio }) => ({ text_asr: (await audio()).toString() });

async function hear(
  audio_ref: { url: string; token?: string; bytes?: number },
  onHttp: (request: IncomingMessage, response: ServerResponse) => void,
  options: Partial<NodeOptions> = {},
) {
  const { scheduler } = await startNode({ onJob: listen, ...options }, { onHttp });
  scheduler.assign({
    audio: '',
    audio_ref: { ...audio_ref, url: audio_ref.url.replace('BASE', scheduler.httpUrl) },
  });
  await until(() => scheduler.results().length === 1);
  const { success, text_asr, error } = scheduler.results()[0] ?? {};
  return success ? text_asr : error;
}

it('inline audio is decoded', async () => {
  const { scheduler } = await startNode({ onJob: listen });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.text_asr).toBe('hello');
});

it('referenced audio is fetched once, with its token', async () => {
  const requests: (string | undefined)[] = [];
  const heard = await hear(
    { url: 'BASE/audio/1', token: 'one-job', bytes: 5 },
    (request, response) => {
      requests.push(request.headers.authorization);
      response.end('spoke');
    },
    {
      onJob: async (_, { audio }) => {
        const [first, second] = await Promise.all([audio(), audio()]);
        return { text_asr: `${first}${second}` };
      },
    },
  );
  expect(heard).toBe('spokespoke');
  expect(requests).toEqual(['Bearer one-job']);
});

it('a reference without a host is relative to the scheduler', async () => {
  expect(await hear({ url: '/audio/1', token: 't' }, (_, response) => response.end('here'))).toBe('here');
});

it('external references are left to the author of the node', async () => {
  const error = await hear({ url: 'blob://store/1' }, (_, response) => response.end());
  expect(error).toMatchObject({
    code: 'PROCESSING_ERROR',
    message: expect.stringContaining('job.audio_ref.url'),
  });
});

it('AUDIO_LOST is reported when the holder lacks some or all audio', async () => {
  expect(
    await hear({ url: 'BASE/1', token: 't' }, (_, response) => response.writeHead(404).end()),
  ).toMatchObject({
    code: 'AUDIO_LOST',
  });
  expect(
    await hear({ url: 'BASE/1', token: 't', bytes: 9 }, (_, response) => response.end('short')),
  ).toMatchObject({
    code: 'AUDIO_LOST',
  });
});

it('excess bytes, too large audio and redirects are refused', async () => {
  const flood = (_: IncomingMessage, response: ServerResponse) => response.end('x'.repeat(1_000));
  const limits = { maxAudioBytes: 100 };
  const tooLong = { message: expect.stringContaining('longer than') };
  expect(await hear({ url: 'BASE/1', token: 't', bytes: 10 }, flood)).toMatchObject(tooLong);
  expect(await hear({ url: 'BASE/1', token: 't' }, flood, { limits })).toMatchObject(tooLong);
  expect(await hear({ url: 'BASE/1', token: 't', bytes: 1_000 }, flood, { limits })).toMatchObject(tooLong);
  const away = (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(302, { location: '/2' }).end();
  expect(await hear({ url: 'BASE/1', token: 't' }, away)).toMatchObject({ code: 'PROCESSING_ERROR' });
});

it('a fetch without an answer times out', async () => {
  const error = await hear({ url: 'BASE/1', token: 't' }, () => {}, { timings: { audioTimeoutMs: 30 } });
  expect(error).toMatchObject({ message: expect.stringContaining('after 30 ms') });
});

it('cancelling the job stops the fetch', async () => {
  let isAsked = false;
  const { scheduler } = await startNode(
    { onJob: listen },
    {
      onHttp: () => {
        isAsked = true;
      },
    },
  );
  const job = scheduler.assign({ audio: '', audio_ref: { url: '/1', token: 't' } });
  await until(() => isAsked);
  scheduler.send({ type: 'job_cancel', job_id: job.job_id });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.error?.code).toBe('JOB_CANCELLED');
});
