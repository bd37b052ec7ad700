/** GET /v1/check: the verdict on a token, readable by pages of every origin, and nothing else. */
import { describe, expect, it } from 'vitest';
import { TOKENS } from '../access/settings.ts';
import { bearer, OPEN, startServer } from './start-server.ts';

describe('GET /v1/check', () => {
  it.each([
    ['session', 'acme-token', true, undefined],
    ['session', 'operator-token', true, undefined],
    ['session', 'wrong-token', false, 'UNAUTHORIZED'],
    ['session', 'node-token', false, 'UNAUTHORIZED'],
    ['session', '', false, 'UNAUTHORIZED'],
    ['node', 'node-token', true, undefined],
    ['node', 'acme-token', false, 'UNAUTHORIZED'],
  ])('as %s with "%s": admitted %s %s', async (role, token, isAdmitted, code) => {
    const { call } = await startServer({ access: { tokens: TOKENS } });
    const inQuery = await call('GET', `/v1/check?role=${role}&token=${token}`);
    expect(inQuery.status).toBe(200);
    expect(inQuery.headers.get('access-control-allow-origin')).toBe('*');
    expect(inQuery.body).toEqual(
      isAdmitted
        ? { role, is_admitted: true }
        : { role, is_admitted: false, code, message: expect.any(String), hint: expect.any(String) },
    );
    if (token === '') return;
    expect((await call('GET', `/v1/check?role=${role}`, undefined, bearer(token))).body).toEqual(
      inQuery.body,
    );
  });

  it('an unknown role is refused with its name', async () => {
    const { call } = await startServer({ access: { tokens: TOKENS } });
    expect(await call('GET', '/v1/check?role=king')).toMatchObject({ status: 400, body: { field: '/role' } });
  });

  it('takes from the budget of requests', async () => {
    const { call } = await startServer({
      access: { tokens: TOKENS, limits: { ...OPEN.limits, requestsPerSecond: 1 } },
    });
    const statuses = [];
    for (let count = 0; count < 5; count += 1)
      statuses.push((await call('GET', '/v1/check?role=session')).status);
    expect(statuses).toContain(429);
  });

  it('an unknown path is readable by pages, so that the SDK can name it', async () => {
    const { call } = await startServer();
    const answer = await call('GET', '/elsewhere/v1/check?role=session');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });
});
