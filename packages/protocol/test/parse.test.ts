/** Frames become messages or problems; no input makes parsing throw. */
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  DIRECTIONS,
  type NodeToScheduler,
  parseNodeMessage,
  parseSchedulerToNode,
  parseSchedulerToSession,
  parseSessionMessage,
} from '../src/index.ts';
import { arbitraryOf } from './arbitrary-of.ts';

const PARSERS = new Map<string, (text: string) => { kind: string }>([
  ['session_to_scheduler', parseSessionMessage],
  ['scheduler_to_session', parseSchedulerToSession],
  ['node_to_scheduler', parseNodeMessage],
  ['scheduler_to_node', parseSchedulerToNode],
]);

const directions = DIRECTIONS.map(({ name, messages }) => {
  const parse = PARSERS.get(name);
  if (parse === undefined) throw new Error(`no parser for ${name}`);
  return { name, parse, anyMessage: fc.oneof(...messages.map((schema: TSchema) => arbitraryOf(schema))) };
});

describe.each(directions)('$name', ({ parse, anyMessage }) => {
  it('every message of the direction is parsed', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(parse(JSON.stringify(message)).kind).toBe('message');
      }),
      { numRuns: 300 },
    );
  });

  it('every truncated frame is refused', () => {
    fc.assert(
      fc.property(
        anyMessage,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (message, part) => {
          const text = JSON.stringify(message);
          expect(parse(text.slice(0, Math.floor(text.length * part))).kind).toBe('invalid');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('a frame with one changed character never throws', () => {
    fc.assert(
      fc.property(
        anyMessage,
        fc.nat(),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        (message, at, char) => {
          const text = JSON.stringify(message);
          const index = at % text.length;
          expect(['message', 'invalid']).toContain(
            parse(text.slice(0, index) + char + text.slice(index + 1)).kind,
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('arbitrary JSON never throws', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parse(text).kind).toBe('invalid');
      }),
    );
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', ''])(
    'type %j is unknown',
    (type) => {
      expect(parse(JSON.stringify({ type }))).toMatchObject({ kind: 'invalid', problem: { path: '/type' } });
    },
  );

  it('__proto__ is dropped and prototypes stay unchanged', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const text = JSON.stringify(message).replace(
          '{',
          '{"__proto__":{"polluted":true},"constructor":{"polluted":1},',
        );
        const parsed = parse(text) as { kind: string; message?: object };
        expect(parsed.kind).toBe('message');
        expect(Object.getPrototypeOf(parsed.message)).toBe(Object.prototype);
        expect(Object.hasOwn(parsed.message ?? {}, '__proto__')).toBe(false);
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });
});

describe('problem of a frame', () => {
  it.each([
    ['[]', '', 'a message must be an object, not an array'],
    ['"text"', '', 'a message must be an object, not a string'],
    ['null', '', 'a message must be an object, not null'],
    ['{}', '/type', '"type" is missing'],
    ['{"type":7}', '/type', '"type" must be a string, not a number'],
    [
      '{"type":"audio_chunks"}',
      '/type',
      '"type" "audio_chunks" is unknown; the nearest known one is "audio_chunk"',
    ],
    ['{"type":"shrug"}', '/type', '"type" "shrug" is unknown; docs/protocol.md lists those that are'],
    [
      '{"type":"job_ack"}',
      '/type',
      '"type" "job_ack" is a message of nodes: it belongs on /ws/node, this is /ws/session',
    ],
    [
      '{"type":"session_init_ack"}',
      '/type',
      '"type" "session_init_ack" is a message that the scheduler sends, not one that it receives',
    ],
    ['{"type":"client_heartbeat","session_id":"s"}', '/timestamp', '"timestamp" is missing'],
    [
      '{"type":"audio_chunk","session_id":"s","seq":1.5,"is_final":true}',
      '/seq',
      '"seq" must be a whole number, not a fraction',
    ],
    [
      '{"type":"audio_chunk","session_id":"s","seq":9007199254740993,"is_final":true}',
      '/seq',
      '"seq" must be at most 9007199254740991',
    ],
  ])('the problem of %s is at "%s"', (text, path, message) => {
    expect(parseSessionMessage(text)).toMatchObject({ kind: 'invalid', problem: { path, message } });
  });

  it('a session message on the node socket names the right socket', () => {
    for (const type of ['session_init', 'audio_chunk', 'room_join']) {
      expect(parseNodeMessage(JSON.stringify({ type }))).toMatchObject({
        problem: {
          message: `"type" "${type}" is a message of sessions: it belongs on /ws/session, this is /ws/node`,
        },
      });
    }
  });

  it('a null inside an array is named', () => {
    const init = {
      type: 'session_init',
      client_version: '1',
      platform: 'web',
      src_lang: 'auto',
      tgt_lang: 'en',
    };
    expect(parseSessionMessage(JSON.stringify({ ...init, auto_langs: ['zh', null] }))).toMatchObject({
      kind: 'invalid',
      problem: { path: '/auto_langs/1', message: 'item 1 of "auto_langs" must be a string, not null' },
      type: 'session_init',
    });
  });

  it('the problem has the type only if the protocol has it', () => {
    expect(parseNodeMessage('{"type":"job_ack"}')).toHaveProperty('type', 'job_ack');
    expect(parseNodeMessage('{"type":"job_acks"}')).not.toHaveProperty('type');
  });

  it('a list far beyond its limit is refused before its items are checked', () => {
    const frame = JSON.stringify({ type: 'node_register', advanced_features: [] }).replace(
      '[]',
      JSON.stringify(Array.from({ length: 200_000 }, () => 0)),
    );
    expect(parseNodeMessage(frame)).toMatchObject({
      kind: 'invalid',
      problem: { message: 'there are more than 50000 values' },
    });
  });

  it('the problem of an endless type stays short', () => {
    const parsed = parseNodeMessage(JSON.stringify({ type: 'x'.repeat(1_000_000) }));
    expect(parsed.kind === 'invalid' ? parsed.problem.message.length : 0).toBeLessThan(200);
  });
});

it('the type narrows a message', () => {
  const parsed = parseNodeMessage('{}');
  if (parsed.kind === 'message') {
    expectTypeOf(parsed.message).toEqualTypeOf<NodeToScheduler>();
    if (parsed.message.type === 'job_result') expectTypeOf(parsed.message.success).toEqualTypeOf<boolean>();
    if (parsed.message.type === 'node_register') {
      expectTypeOf(parsed.message.node_id).toEqualTypeOf<string | undefined>();
    }
  }
  expect(parsed.kind).toBe('invalid');
});
