/** Prints docs/config.md from the table of settings. Pure. */
import { columnsOf } from './compound-setting.ts';
import { envName } from './known-names.ts';
import { printValue } from './print-config.ts';
import type { AnyGroup, Setting } from './setting.ts';
import { FORMER_GROUPS, settings, walk } from './settings.ts';

const INTRODUCTION = `# Configuration

Printed from the table of settings in \`packages/scheduler/src/config/settings.ts\`; a test compares.

Sources, later wins: defaults, \`config.toml\`, environment, flags. \`lingua config print\` shows every effective value and
where it is from. A start with a wrong configuration is refused, and all problems are reported at once.

- **File**: \`config.toml\` in the working directory, or the one given with \`--config\`. \`config.example.toml\` has every key.
- **Environment**: \`LINGUA_\` and the key in capitals, with two underscores between its parts:
  \`server.port\` is \`${envName('server.port')}\`, \`scheduler.task_binding.lease_seconds\` is \`${envName('scheduler.task_binding.lease_seconds')}\`.
  Lists are separated by commas, arrays of tables are JSON. A variable that starts with \`LINGUA_\` and is no setting is a
  mistake, except those that Kubernetes makes for services.
- **Flags**: \`--set key=value\`, as often as needed; \`--host\` and \`--port\` for \`server.host\` and \`server.port\`.

A size in bytes is a number or a text like \`"512KB"\`; KB, MB and GB are powers of 1024. An unset setting is unset again by an empty text.
Some settings have a second name. Within one source the two may not contradict each other; a later source wins under either name.

## What must fit together

- Times nest: \`reserve_timeout_ms\` < \`ack_timeout_ms\` < \`reservation_ttl_ms\` < \`job_timeout_seconds\` < \`job_deadline_ms\`
  (all under \`scheduler.\`).
- \`scheduler.job_deadline_ms\` is at least four presence TTLs, eight times \`scheduler.heartbeat_interval_seconds\`:
  the jobs of a dead instance are taken over in time.
- \`scheduler.task_binding.lease_seconds\` is at most \`scheduler.job_retention_ms\`: a repeated request finds its result.
- A server that listens on anything but a loopback address has \`[[server.tokens]]\`, or names both \`server.anonymous\` and
  the networks of \`server.trusted_networks\`. Behind a proxy every client has the proxy's address: trust a proxy only if it
  lets in no other clients.
`;

export function printConfigDoc(): string {
  const sections = [INTRODUCTION];
  for (const { key, entry } of walk()) {
    if (entry.kind === 'group') sections.push(printGroup(key, entry));
    else if (entry.kind === 'setting') sections.push(...printColumns(key, entry));
  }
  sections.push(printIgnored());
  return `${sections
    .filter((section) => section !== '')
    .map((section) => section.trimEnd())
    .join('\n\n')}\n`;
}

function printGroup(key: string, group: AnyGroup): string {
  const rows = Object.entries(group.entries).flatMap(([name, entry]) =>
    entry.kind === 'setting' ? [printRow(name, entry)] : [],
  );
  if (rows.length === 0) return '';
  const former = FORMER_GROUPS.get(key);
  const doc =
    former === undefined
      ? group.doc
      : `${group.doc} Its name in earlier files, \`${former}\`, is accepted, too.`;
  return [`## \`${key}\``, '', doc, '', HEADING, ...rows].join('\n');
}

const HEADING = '| key | default | allowed | meaning |\n|---|---|---|---|';

function printRow(name: string, setting: Setting<unknown>): string {
  const standing = setting.isRequired ? 'required' : code(printValue(setting, setting.default));
  const aliases = setting.aliases.map(({ key, scale, isShorthand }) =>
    isShorthand === true
      ? ` Falls back to \`${key}\`.`
      : ` Also \`${key}\`${scale === undefined ? '' : ` (times ${scale})`}.`,
  );
  const cells = [code(name), standing, setting.allowed, setting.doc + aliases.join('')];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The columns of an array of tables, and of the tables inside its rows. */
function printColumns(key: string, setting: Setting<unknown>): readonly string[] {
  const columns = columnsOf(setting);
  if (columns === undefined) return [];
  const rows = Object.entries(columns).map(([name, column]) => printRow(name, column));
  const title = setting.type === 'table' ? `[${key}]` : `[[${key}]]`;
  return [
    [`### \`${title}\``, '', setting.doc, '', HEADING, ...rows].join('\n'),
    ...Object.entries(columns).flatMap(([name, column]) => printColumns(`${key}.${name}`, column)),
  ];
}

function printIgnored(): string {
  const rows = [...walk(settings)].flatMap(({ key, entry }) =>
    entry.kind === 'ignored' ? [`| ${code(key)} | ${entry.doc} |`] : [],
  );
  return [
    '## Accepted without effect',
    '',
    'Keys of earlier configuration files. They load with a warning.',
    '',
    '| key | why |\n|---|---|',
    ...rows,
  ].join('\n');
}

const code = (text: string): string => (text.startsWith('(') ? text.slice(1, -1) : `\`${text}\``);
