/** Point 12: misplaced and unknown fields of a dispatch are named in the warnings of the answer. */
import { DispatchReply, DispatchRequest, ErrorReply, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createFindUnknownFields } from '../../../src/transport/http/requests/unknown-fields.ts';
import { DISPATCH, startServer } from './start-server.ts';

const PATH = '/v1/dispatch/f2f';
const find = createFindUnknownFields(DispatchRequest);

describe('an unknown field of a dispatch', () => {
  it('is named with the place where it belongs, or the nearest name', () => {
    expect(find({ ...DISPATCH, preferred_node_id: 'n1' })).toEqual([
      '"preferred_node_id" is ignored: it belongs in "options"',
    ]);
    expect(find({ ...DISPATCH, options: { wait_ms: 5 } })).toEqual([
      '"options.wait_ms" is ignored: it belongs outside of "options"',
    ]);
    expect(find({ ...DISPATCH, options: { prefered_node_id: 'n1' } })).toEqual([
      '"options.prefered_node_id" is ignored: there is no such field; did you mean "preferred_node_id"?',
    ]);
    expect(find({ ...DISPATCH, zebra_crossing: 1 })).toEqual([
      '"zebra_crossing" is ignored: there is no such field',
    ]);
  });

  it('is one of at most eight, with its name cut', () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${'x'.repeat(5_000)}${n}`, 1]));
    const found = find({ ...DISPATCH, ...many });
    expect(found).toHaveLength(8);
    expect(Math.max(...(found ?? []).map((warning) => warning.length))).toBeLessThan(200);
  });

  it('is in the warnings of the answer, and of the refusal', async () => {
    const { post } = await startServer();
    const misplaced = await post(PATH, { ...DISPATCH, preferred_node_id: 'n1' });
    expect(misplaced).toMatchObject({
      status: 200,
      body: { warnings: ['"preferred_node_id" is ignored: it belongs in "options"'] },
    });
    expect(validator(DispatchReply)(misplaced.body).ok).toBe(true);
    expect((await post(PATH, DISPATCH)).body).not.toHaveProperty('warnings');
    const refused = await post(PATH, { ...DISPATCH, tgt_lang: 'auto', strict: true });
    expect(refused).toMatchObject({
      status: 400,
      body: { field: '/tgt_lang', warnings: ['"strict" is ignored: it belongs in "options"'] },
    });
    expect(validator(ErrorReply)(refused.body).ok).toBe(true);
  });
});
