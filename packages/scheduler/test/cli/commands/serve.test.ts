/** `lingua serve` and `lingua demo` refuse arguments that they do not know. */
import { expect, it } from 'vitest';
import { runCommand } from '../../../src/cli/run-command.ts';
import { createTerminal } from '../terminal.ts';

/** The message of a command that would end at once if it started. */
async function refusal(...argv: string[]) {
  const io = createTerminal();
  io.interrupt();
  const status = await runCommand(argv, io);
  return { status, received: io.errors.join('\n') };
}

it.each([
  ['config.toml', 'did you mean --config config.toml?'],
  ['./settings/of-this-machine', 'did you mean --config ./settings/of-this-machine?'],
  ['5011', 'did you mean --port 5011?'],
  ['server.port=5011', 'did you mean --set server.port=5011?'],
  ['bla', '--help lists the options'],
])('refuses the unknown argument %s with a suggestion', async (word, advice) => {
  for (const command of ['serve', 'demo']) {
    const { status, received } = await refusal(command, '--port', '0', '--set', 'log.level=silent', word);
    expect(status).toBe(2);
    expect(received).toBe(`lingua ${command}: "${word}" is not expected here; ${advice}`);
  }
});

it.each([
  ['--nope', 'there is no option --nope (--help lists the options)'],
  ['--confg=x', 'there is no option --confg; did you mean --config? (--help lists the options)'],
  ['-x', 'there is no option -x (--help lists the options)'],
])('refuses the unknown option %s with a suggestion', async (option, received) => {
  expect(await refusal('serve', option)).toEqual({ status: 2, received: `lingua serve: ${received}` });
});
