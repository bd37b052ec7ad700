import type { DispatchRequest as Body } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createRequirements } from '../../../src/domain/requirements.ts';
import { buildDispatch } from '../../../src/transport/http/requests/dispatch-request.ts';
import { canonicalRequest } from '../../../src/transport/http/requests/fingerprint.ts';
import { DISPATCH } from './start-server.ts';

const CONTEXT = {
  tenantId: 'acme',
  utteranceIndex: 7,
  sessionId: 'session-made',
  traceId: 'trace-made',
  digest: (text: string) => `digest of ${text}`,
  require: createRequirements({}),
};

function build(change: Partial<Body>, idempotencyKey?: string) {
  const built = buildDispatch({ ...DISPATCH, ...change }, { ...CONTEXT, idempotencyKey });
  if (built.kind === 'invalid') throw new Error(`${built.field}: ${built.message}`);
  return built.request;
}

const problem = (change: Partial<Body>, idempotencyKey?: string) =>
  buildDispatch({ ...DISPATCH, ...change }, { ...CONTEXT, idempotencyKey });

describe('dispatch request', () => {
  it('required services and the dependencies of features are needed', () => {
    const { need } = build({
      required_services: ['whisper-large', 'tone', 'whisper-large', 'asr'],
      features: { speech_rate_control: true },
    });
    expect(need).toMatchObject({
      types: ['tone', 'tts'],
      services: ['whisper-large'],
      features: ['speech_rate_control', 'speech_rate_detection'],
    });
  });

  it('the core service of each used stage is needed', () => {
    const require = createRequirements({ asr: 'node-inference', nmt: 'nmt-m2m100', tts: 'piper-tts' });
    const built = buildDispatch({ ...DISPATCH }, { ...CONTEXT, require });
    expect(built).toMatchObject({ request: { need: { services: ['nmt-m2m100', 'node-inference'] } } });
  });

  it('other required services give another fingerprint', () => {
    const printed = (required_services: string[]) =>
      build({ request_id: 'r1', required_services }).fingerprint;
    expect(printed(['a'])).not.toBe(printed(['b']));
  });

  it('the default is the whole pipeline without speech, and no waiting', () => {
    expect(build({})).toEqual({
      tenantId: 'acme',
      sessionId: 'room-888',
      need: {
        tenantId: 'acme',
        sessionId: 'room-888',
        directions: [{ source: 'en', target: 'zh' }],
        isSourceAuto: false,
        usesAsr: true,
        usesNmt: true,
        usesTts: false,
        types: [],
        services: [],
        isAudioByReference: true,
        isPairUnknown: false,
        needsPublicNode: true,
        isStrict: false,
      },
      spec: {
        utteranceIndex: 7,
        sourceLanguage: 'en',
        targetLanguage: 'zh',
        pipeline: { use_asr: true, use_nmt: true, use_tts: false, use_semantic: true, use_tone: false },
        audio: { kind: 'reference', url: 'blob://1' },
        audioFormat: 'pcm16',
        sampleRate: 16_000,
        traceId: 'trace-made',
        cut: 'manual',
      },
      waitMs: 0,
    });
  });

  it('options for node, speech and waiting are passed on', () => {
    const request = build({
      options: { require_tts: true, preferred_node_id: 'node-9', strict: true },
      pipeline: { use_asr: true, use_nmt: true, use_tts: false, use_tone: true },
      wait_ms: 500,
      trace_id: 'trace-given',
      dialect: 'cantonese',
      features: { emotion_detection: true },
    });
    expect(request.need).toMatchObject({
      usesTts: true,
      types: ['tone'],
      preferredNodeId: 'node-9',
      isStrict: true,
    });
    expect(request.spec).toMatchObject({
      traceId: 'trace-given',
      dialect: 'cantonese',
      features: { emotion_detection: true },
      pipeline: { use_tts: true, use_tone: true, use_semantic: false },
    });
    expect(request.waitMs).toBe(500);
  });

  it.each<[string, Partial<Body>, unknown, boolean]>([
    ['normalised tags', { src_lang: 'zh-CN', tgt_lang: 'pt_BR' }, [{ source: 'zh', target: 'pt' }], false],
    [
      'two-way',
      { mode: 'two_way_auto' },
      [
        { source: 'en', target: 'zh' },
        { source: 'zh', target: 'en' },
      ],
      false,
    ],
    [
      'auto with a pair',
      { src_lang: 'auto', lang_a: 'zh', lang_b: 'en-US' },
      [
        { source: 'zh', target: 'en' },
        { source: 'en', target: 'zh' },
      ],
      false,
    ],
    [
      'auto with candidates',
      { src_lang: 'AUTO', auto_langs: ['ja', 'zh', 'ko'] },
      [
        { source: 'ja', target: 'zh' },
        { source: 'ko', target: 'zh' },
      ],
      true,
    ],
    ['auto without languages', { src_lang: 'auto' }, [{ source: 'any', target: 'zh' }], true],
    [
      'auto with a target only',
      { src_lang: 'auto', auto_langs: ['zh'] },
      [{ source: 'any', target: 'zh' }],
      true,
    ],
    ['one-way with a pair', { lang_a: 'ja', lang_b: 'ko' }, [{ source: 'en', target: 'zh' }], false],
  ])('%s determines the needed directions', (_name, change, directions, isPairUnknown) => {
    const { need } = build(change);
    expect(need.directions).toEqual(directions);
    expect(need.isPairUnknown).toBe(isPairUnknown);
    expect(need.isSourceAuto).toBe(change.src_lang?.toLowerCase() === 'auto');
  });

  it.each<[Partial<Body>, string]>([
    [{ tgt_lang: 'auto' }, '/tgt_lang'],
    [{ lang_a: 'en' }, '/lang_b'],
    [{ lang_b: 'en' }, '/lang_a'],
    [{ lang_a: 'auto', lang_b: 'en' }, '/lang_a'],
    [{ audio: 'AAAA' }, '/audio_ref'],
    [{ audio_ref: '' }, '/audio_ref'],
  ])('the invalid field of %j is named', (change, field) => {
    expect(problem(change)).toMatchObject({ kind: 'invalid', field });
  });

  it.each<[Partial<Body>]>([
    [{ audio: '' }],
    [{ audio: 'not base64!' }],
    [{ audio: 'AAAA', audio_format: 'wav' }],
  ])('the invalid audio of %j is named', (change) => {
    const { audio_ref: _, ...rest } = DISPATCH;
    expect(buildDispatch({ ...rest, ...change }, CONTEXT)).toMatchObject({
      kind: 'invalid',
      field: '/audio',
    });
  });

  it('the request id comes from body or header, and two must agree', () => {
    expect(build({ request_id: 'r-1' }).requestId).toBe('r-1');
    expect(build({}, 'r-1').requestId).toBe('r-1');
    expect(build({}, '"r-1"').requestId).toBe('r-1');
    expect(build({ request_id: 'r-1' }, 'r-1').requestId).toBe('r-1');
    expect(problem({ request_id: 'r-1' }, 'r-2')).toMatchObject({ kind: 'invalid', field: '/request_id' });
    expect(problem({}, 'two words')).toMatchObject({ kind: 'invalid', field: '/request_id' });
    expect(build({}).fingerprint).toBeUndefined();
    expect(build({ request_id: 'r-1' }).fingerprint).toMatch(/^digest of /);
  });

  it('equal requests share a fingerprint, different ones do not', () => {
    const print = canonicalRequest;
    const same: Body = { tgt_lang: 'zh', audio_ref: 'blob://1', src_lang: 'en', session_id: 'room-888' };
    expect(print({ ...same, wait_ms: 5, trace_id: 't', request_id: 'r' })).toBe(print(DISPATCH));
    // The priority may change between retries.
    expect(print({ ...DISPATCH, options: { priority: 'high' } })).toBe(print(DISPATCH));
    expect(print({ ...DISPATCH, src_lang: 'de' })).not.toBe(print(DISPATCH));
    expect(print({ ...DISPATCH, options: { require_tts: true, strict: true } })).toBe(
      print({ ...DISPATCH, options: { strict: true, require_tts: true } }),
    );
  });
});
