/** Reads the body of POST /v1/translate: JSON, or audio with the other fields in the query. */
import { queryValidator, TranslateQuery } from '@lingua/protocol';
import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../../wire/error-reply.ts';

const readQuery = queryValidator(TranslateQuery);

/** Types of a wav file; its header has the sample rate. */
const WAV_TYPES: ReadonlySet<string> = new Set(['audio/wav', 'audio/wave', 'audio/x-wav', 'audio/vnd.wave']);
/** Samples or packets, which `audio_format` and `sample_rate` describe. */
const BYTES_TYPE = 'application/octet-stream';

/** Afterwards the body is what a JSON caller would have sent. */
export function readTranslateBody(request: FastifyRequest): Refusal | undefined {
  const { body } = request;
  const sent = Buffer.isBuffer(body) ? readAudio(request.headers['content-type'] ?? '', body) : body;
  if (sent === undefined && body !== undefined) return NO_AUDIO_TYPE;
  const read = readQuery(request.query);
  if (!read.ok) return { code: 'INVALID_MESSAGE', detail: read.problem.message, field: read.problem.path };
  // Validation names a body that is no object.
  if (sent !== undefined && !isObject(sent)) return undefined;
  const { require_tts: mustSpeak, ...fields } = read.value;
  const options = mustSpeak === undefined ? {} : { options: { require_tts: mustSpeak } };
  request.body = { ...options, ...fields, ...sent };
  return undefined;
}

/** Undefined: audio of this type is not accepted. */
function readAudio(contentType: string, bytes: Buffer): object | undefined {
  const [type = ''] = contentType.toLowerCase().split(';', 1);
  const audio = bytes.toString('base64');
  if (WAV_TYPES.has(type.trim())) return { audio, audio_format: 'wav' };
  return type.trim() === BYTES_TYPE ? { audio } : undefined;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NO_AUDIO_TYPE: Refusal = {
  code: 'INVALID_MESSAGE',
  status: 415,
  detail: 'the body must be JSON, a wav file, or samples',
  hint: 'Send "Content-Type: audio/wav" with a wav file of 16-bit mono samples (with curl: -H "content-type: audio/wav" --data-binary @file.wav), or "application/octet-stream" with audio_format in the query, or "application/json".',
};
