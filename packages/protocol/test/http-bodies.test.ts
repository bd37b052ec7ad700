/** The HTTP bodies of the face-to-face design, verbatim, and invalid ones. */
import { describe, expect, it } from 'vitest';
import * as protocol from '../src/index.ts';

const accepts = (schema: Parameters<typeof protocol.validator>[0], text: string) => {
  const parsed = protocol.parseJson(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return protocol.validator(schema)(parsed.value);
};

const REGISTER = `{
  "node_id": "node-123",
  "health": "ready",
  "semantic_langs": ["en","zh"],
  "nmt_pairs": [["en","zh"],["zh","en"]],
  "tts_langs": ["en","zh"],
  "max_concurrent_jobs": 2
}`;
const HEARTBEAT = `{
  "node_id": "node-123",
  "health": "ready",
  "current_load": {"gpu": 0.52, "cpu": 0.33},
  "semantic_langs": ["en","zh"],
  "nmt_pairs": [["en","zh"],["zh","en"]],
  "tts_langs": ["en","zh"],
  "max_concurrent_jobs": 2
}`;
const DISPATCH = `{
  "session_id": "room-888",
  "src_lang": "en",
  "tgt_lang": "zh",
  "audio_ref": "blob://...", 
  "options": {
    "require_tts": false,
    "preferred_node_id": null
  }
}`;
const DISPATCHED = '{"job_id": "job-abc", "node_id": "node-123", "attempt_id": 1}';
const REFUSED = '{"error": "NO_CAPABLE_NODE", "detail": "No node supports semantic(en) + nmt(en->zh)."}';
const ACK = '{"job_id":"job-abc","attempt_id":1,"node_id":"node-123"}';
const DONE = '{"job_id":"job-abc","attempt_id":1,"node_id":"node-123","status":"ok"}';
const FAIL =
  '{"job_id":"job-abc","attempt_id":1,"node_id":"node-123","status":"error","reason":"MODEL_LOAD_FAILED"}';

describe('bodies of the design', () => {
  it.each([
    ['register', protocol.HttpNodeRegister, REGISTER],
    ['register reply', protocol.HttpNodeRegisterReply, '{"ok": true}'],
    ['heartbeat', protocol.HttpNodeHeartbeat, HEARTBEAT],
    ['heartbeat reply', protocol.HttpNodeHeartbeatReply, '{"ok": true}'],
    ['dispatch', protocol.DispatchRequest, DISPATCH],
    ['dispatch reply', protocol.DispatchReply, DISPATCHED],
    ['refusal', protocol.ErrorReply, REFUSED],
    ['ack', protocol.JobAckReport, ACK],
    ['done', protocol.JobDoneReport, DONE],
    ['fail', protocol.JobFailReport, FAIL],
    [
      'stale report reply',
      protocol.JobReportReply,
      '{"ok": true, "accepted": false, "reason": "stale_attempt"}',
    ],
  ])('%s is accepted verbatim', (_, schema, text) => {
    expect(accepts(schema, text)).toMatchObject({ ok: true });
  });
});

describe('dispatch body', () => {
  const dispatch = (fields: object) =>
    protocol.validator(protocol.DispatchRequest)({
      session_id: 'room-888',
      src_lang: 'en',
      tgt_lang: 'zh',
      ...fields,
    });

  it('a dispatch needs audio or a reference', () => {
    expect(dispatch({ audio: 'AAEC' }).ok).toBe(true);
    expect(dispatch({ audio_ref: 'blob://x' }).ok).toBe(true);
    expect(dispatch({})).toEqual({
      ok: false,
      problem: {
        path: '/audio_ref',
        message:
          '"audio_ref" or "audio" is missing: send the address of the audio, or the audio itself in base64',
      },
    });
  });

  it('wait_ms is at most a minute', () => {
    expect(dispatch({ audio: '', wait_ms: 60_000 }).ok).toBe(true);
    expect(dispatch({ audio: '', wait_ms: 60_001 })).toEqual({
      ok: false,
      problem: { path: '/wait_ms', message: '"wait_ms" must be at most 60000' },
    });
  });

  it('a wrong nested field is named', () => {
    expect(dispatch({ audio: '', options: { preferred_node_id: 'a node' } })).toEqual({
      ok: false,
      problem: {
        path: '/options/preferred_node_id',
        message: '"preferred_node_id" must be 1 to 128 letters, digits or . _ : -',
      },
    });
  });
});

describe('registration body', () => {
  const register = (fields: object) =>
    protocol.validator(protocol.HttpNodeRegister)({ node_id: 'node-1', ...fields });

  it('an endpoint is an http or https URL', () => {
    expect(register({ endpoint: 'http://10.0.0.7:8080/jobs' }).ok).toBe(true);
    for (const endpoint of ['ftp://x/', 'http://a b/', '10.0.0.7', `http://${'x'.repeat(3000)}`]) {
      expect(register({ endpoint })).toMatchObject({ ok: false, problem: { path: '/endpoint' } });
    }
  });

  it('a pair without a target is named', () => {
    expect(register({ nmt_pairs: [['en', 'zh'], ['en']] })).toEqual({
      ok: false,
      problem: { path: '/nmt_pairs/1', message: 'item 1 of "nmt_pairs" must have at least 2 items, not 1' },
    });
  });
});

describe('text query', () => {
  const page = protocol.queryValidator(protocol.JobsQuery);

  it('numbers are read from text', () => {
    expect(page({ limit: '50', state: 'RUNNING' })).toEqual({
      ok: true,
      value: { limit: 50, state: 'RUNNING' },
    });
  });

  it('a field that is no number, or too large, is named', () => {
    for (const limit of ['many', '', '1e3', '0x10', '-1', '1001', '5.5', ['5', '6']]) {
      expect(page({ limit })).toMatchObject({ ok: false, problem: { path: '/limit' } });
    }
  });

  it('unknown query fields are dropped', () => {
    expect(page(JSON.parse('{"__proto__":"x","constructor":"y","cursor":"c"}'))).toEqual({
      ok: true,
      value: { cursor: 'c' },
    });
  });
});
