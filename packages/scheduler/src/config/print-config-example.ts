/** Prints config.example.toml from the table of settings: every key, commented out at its default. Pure. */
import { columnsOf, exampleOf } from './compound-setting.ts';
import { printValue } from './print-config.ts';
import type { AnyGroup, Setting } from './setting.ts';
import { walk } from './settings.ts';

const INTRODUCTION = `# Every setting of the scheduler, at its default. Copy to config.toml and uncomment what you change.
# docs/config.md explains the sources and the allowed values.
`;

const LINE_WIDTH = 100;

export function printConfigExample(): string {
  const sections = [INTRODUCTION];
  for (const { key, entry } of walk()) {
    if (entry.kind === 'group') sections.push(printGroup(key, entry));
  }
  return sections.filter((section) => section !== '').join('\n');
}

function printGroup(key: string, group: AnyGroup): string {
  const entries = Object.entries(group.entries).flatMap(([name, entry]) =>
    entry.kind === 'setting' ? [[name, entry] as const] : [],
  );
  if (entries.length === 0) return '';
  const scalars = entries.filter(([, setting]) => columnsOf(setting) === undefined);
  const tables = entries.filter(([, setting]) => columnsOf(setting) !== undefined);
  return [
    ...comment(group.doc),
    `[${key}]`,
    ...scalars.flatMap(([name, setting]) => [...comment(setting.doc), `#${name} = ${printDefault(setting)}`]),
    // After the plain keys: a header of an array ends the table before it.
    ...tables.flatMap(([name, setting]) => [
      ...comment(setting.doc),
      `#[[${key}.${name}]]`,
      ...(exampleOf(setting) ?? []).map((line) => `#${line}`),
    ]),
    '',
  ].join('\n');
}

const printDefault = (setting: Setting<unknown>): string =>
  setting.default === undefined ? '""' : printValue(setting, setting.default);

function comment(doc: string): readonly string[] {
  const lines: string[] = [];
  for (const word of doc.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > LINE_WIDTH) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
