/** Outgoing messages: which of them share a command, and the result for each sender. */
import { describe, expect, it } from 'vitest';
import { createOutgoingMessages } from '../../../../src/adapters/redis/inbox/outgoing-messages.ts';
import { times } from '../../../contracts/harness.ts';

type ReportedAttempt = number | 'gone' | Error;

/** Every command waits for its answer; `answer` answers the oldest. */
function start() {
  const commands: string[] = [];
  const unanswered: ((answer: ReportedAttempt) => void)[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const send = createOutgoingMessages(
    (to, bodies) =>
      new Promise((resolve, reject) => {
        commands.push(`${to}: ${bodies.map((body) => body.slice(0, 10)).join(' ')}`);
        unanswered.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      }),
  );
  async function answer(given: ReportedAttempt): Promise<void> {
    unanswered.shift()?.(given);
    await turn();
  }
  return { send, commands, answer, turn };
}

describe('outgoing messages', () => {
  it('share a command if they are sent in one turn or while one runs', async () => {
    const { send, commands, answer, turn } = start();
    const first = ['a', 'b'].map((body) => send('x', body));
    await turn();
    const second = ['c', 'd'].map((body) => send('x', body));
    await turn();
    expect(commands).toEqual(['x: a b']);
    await answer(2);
    expect(commands).toEqual(['x: a b', 'x: c d']);
    await answer(2);
    expect(await Promise.all([...first, ...second])).toEqual(times(4, () => 'sent'));
  });

  it('do not wait for messages to another inbox', async () => {
    const { send, commands, turn } = start();
    void send('x', 'a');
    await turn();
    void send('y', 'b');
    await turn();
    expect(commands).toEqual(['x: a', 'y: b']);
  });

  it('are refused one by one: the last ones if full, all if gone', async () => {
    const { send, answer, turn } = start();
    const some = ['a', 'b', 'c'].map((body) => send('x', body));
    await turn();
    await answer(1);
    expect(await Promise.all(some)).toEqual(['sent', 'full', 'full']);
    const others = ['a', 'b'].map((body) => send('x', body));
    await turn();
    await answer('gone');
    expect(await Promise.all(others)).toEqual(['gone', 'gone']);
  });

  it('fail together if the command fails, and later ones are sent', async () => {
    const { send, commands, answer, turn } = start();
    const some = ['a', 'b'].map((body) => send('x', body).catch(({ message }: Error) => message));
    await turn();
    const next = send('x', 'c');
    await answer(new Error('no answer'));
    expect(await Promise.all(some)).toEqual(['no answer', 'no answer']);
    await answer(1);
    expect(await next).toBe('sent');
    expect(commands).toEqual(['x: a b', 'x: c']);
  });

  it('are split into commands of bounded number and size', async () => {
    const { send, commands, answer, turn } = start();
    const large = 'L'.repeat(200_000);
    for (const body of [...times(70, (at) => `${at}`), large, large]) void send('x', body);
    await turn();
    await answer(64);
    await answer(7);
    expect(commands.map((command) => command.split(' ').length - 1)).toEqual([64, 7, 1]);
  });

  it('I11 bounded: are refused beyond a limit', async () => {
    const { send, turn } = start();
    void send('x', 'under way');
    await turn();
    for (let count = 0; count < 10_000; count += 1) void send('x', 'waits');
    expect(await send('x', 'one too many')).toBe('full');
  });
});
