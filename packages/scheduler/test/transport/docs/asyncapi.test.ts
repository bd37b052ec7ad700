/** The AsyncAPI document has every message of both sockets, with the schemas that validate them. */
import { DIRECTIONS } from '@lingua/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { buildAsyncApi } from '../../../src/transport/docs/asyncapi.ts';
import { startServer } from '../http/start-server.ts';

const document = buildAsyncApi('1.2.3');

describe('AsyncAPI', () => {
  it('every message of each direction is in the operation of its direction', () => {
    for (const { name, messages } of DIRECTIONS) {
      const socket = name.includes('session') ? 'session' : 'node';
      const types = messages.map((message) => message.properties.type.const);
      expect(document.operations[name], name).toEqual({
        action: name.startsWith('scheduler_to_') ? 'send' : 'receive',
        channel: { $ref: `#/channels/${socket}` },
        messages: types.map((type) => ({ $ref: `#/channels/${socket}/messages/${name}.${type}` })),
      });
      for (const type of types) {
        expect(document.channels[socket]?.messages[`${name}.${type}`]).toEqual({
          $ref: `#/components/messages/${name}.${type}`,
        });
        expect(document.components.messages[`${name}.${type}`]?.name).toBe(type);
      }
    }
  });

  it('every reference leads to a part of the document', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(refs.length).toBeGreaterThan(100);
    for (const path of refs) {
      const found = path
        .split('/')
        .reduce<unknown>((part, key) => (part as Record<string, unknown>)?.[key], document);
      expect(found, path).toBeDefined();
    }
  });

  it('the payloads accept and refuse what the protocol does', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false });
    const moved = JSON.stringify(document.components.schemas).replaceAll(
      '"#/components/schemas/',
      '"all#/$defs/',
    );
    ajv.addSchema({ $id: 'all', $defs: JSON.parse(moved) });
    const validate = ajv.compile({ $ref: 'all#/$defs/session_to_scheduler.audio_chunk' });
    expect(validate({ type: 'audio_chunk', session_id: 's', seq: 1, is_final: false })).toBe(true);
    expect(validate({ type: 'audio_chunk', session_id: 's', seq: 'one', is_final: false })).toBe(false);
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => ajv.compile({ $ref: `all#/$defs/${name}` }), name).not.toThrow();
    }
  });

  it('is served beside the OpenAPI document', async () => {
    const { get } = await startServer({ settings: { version: '1.2.3' } });
    expect((await get('/docs/asyncapi.json')).body).toEqual(JSON.parse(JSON.stringify(document)));
  });
});
