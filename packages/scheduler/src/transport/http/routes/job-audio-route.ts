/** GET /v1/job/:id/audio: the spoken translation of a job as bytes, for its tenant and operators. */
import type { JobPath } from '@lingua/protocol';
import { isSettled, type JobRecord } from '../../../domain/job.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { wrapWav } from '../../wire/wrap-wav.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { NO_SUCH_JOB, readJob } from '../views/read-job.ts';

export function addJobAudioRoute(routes: Routes, services: HttpServices): void {
  routes.add<{ Params: JobPath }>(
    'GET',
    '/v1/job/:id/audio',
    { hasQueryToken: true },
    async ({ params, principal }, reply) => {
      const job = await readJob(services, principal, params.id);
      if (job === undefined) return replyError(reply, NO_SUCH_JOB);
      const { ttsAudio = '', ttsFormat = '' } = job.result ?? {};
      if (ttsAudio === '') return replyError(reply, absent(job));
      const { type, bytes } = toFile(ttsFormat.toLowerCase(), Buffer.from(ttsAudio, 'base64'));
      return reply.header('content-type', type).send(bytes);
    },
  );
}

/** Formats that players know. The length-prefixed `opus` of the protocol is not among them. */
const TYPES: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  ogg_opus: 'audio/ogg',
  flac: 'audio/flac',
  webm: 'audio/webm',
};

const SAMPLE_RATE = 16_000;

/** No player accepts bare samples; the protocol says that pcm16 has 16 kHz. */
const toFile = (format: string, bytes: Buffer): { type: string; bytes: Buffer } =>
  format === 'pcm16'
    ? { type: 'audio/wav', bytes: wrapWav(bytes, SAMPLE_RATE) }
    : { type: TYPES[format] ?? 'application/octet-stream', bytes };

const absent = (job: JobRecord): Refusal => ({ code: 'NOT_FOUND', field: '/id', ...whyAbsent(job) });

function whyAbsent({ state, failure, result, spec }: JobRecord): { detail: string; hint: string } {
  if (failure !== undefined)
    return { detail: `the job failed: ${failure.code}`, hint: 'GET /v1/job/:id has the reason.' };
  if (result === undefined || !isSettled(state))
    return { detail: 'the job has no result yet', hint: 'GET /v1/job/:id?wait_ms=30000 waits for it.' };
  if (result.extra?.tts_audio_dropped === true)
    return {
      detail: 'the spoken translation was larger than scheduler.result_inline_max_bytes and was dropped',
      hint: 'Raise scheduler.result_inline_max_bytes, or let the node send a compressed format.',
    };
  return spec.pipeline.use_tts
    ? { detail: 'the node sent no spoken translation', hint: 'Look at the logs of the node.' }
    : {
        detail: 'no speech was requested for this job',
        hint: 'Set options.require_tts, or pipeline.use_tts.',
      };
}
