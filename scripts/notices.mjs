// Writes THIRD-PARTY-NOTICES.txt: every package that a production installation contains, with its licence and the text of it.
// With --check it writes nothing and ends with 1 if the file differs. It reads package-lock.json and node_modules.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const FILE = `${root}/THIRD-PARTY-NOTICES.txt`;
const LINE = '-'.repeat(78);
/** A text and what may stand beside it. */
const TEXTS = /^(licen[cs]e|copying|notice)\b/i;

const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8'));
const shipped = Object.entries(packages)
  .filter(
    ([path, { link, dev, devOptional }]) => path.includes('node_modules/') && !link && !dev && !devOptional,
  )
  .map(([path, { name, version, license }]) => ({
    path,
    // The voice detector's runtime is replaced by an empty package (overrides in package.json), which has another name.
    name: name ?? path.replace(/^.*node_modules\//, ''),
    version,
    license,
  }))
  .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));

/** The console's pages contain these packages; all others are installed by npm beside the scheduler. */
const inConsole = new Set();
const addToConsole = (name) => {
  if (inConsole.has(name)) return;
  inConsole.add(name);
  for (const next of Object.keys(packages[`node_modules/${name}`].dependencies ?? {})) addToConsole(next);
};
for (const name of Object.keys(packages['packages/console'].dependencies))
  if (!name.startsWith('@lingua/')) addToConsole(name);

const textOf = ({ path, license }) => {
  const files = existsSync(`${root}/${path}`) ? readdirSync(`${root}/${path}`) : [];
  const texts = files.filter((name) => TEXTS.test(name)).sort();
  if (texts.length === 0) return `Its package contains no licence text and names this licence: ${license}`;
  return texts
    .map((name) => readFileSync(`${root}/${path}/${name}`, 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n');
};

/** Text → the packages that have it: several packages of one project share theirs. */
const byText = new Map();
for (const each of shipped) byText.set(textOf(each), [...(byText.get(textOf(each)) ?? []), each]);

/** What a package does not say itself. */
const NOTES = new Map([
  [
    '@ricky0123/vad-web',
    '; only its file of Silero VAD, Copyright (c) 2020-present Silero Team, under the MIT licence',
  ],
]);

const titleOf = ({ name, version, license }) =>
  `${name} ${version} (${license})${inConsole.has(name) ? ', a part of the web console' : ''}${NOTES.get(name) ?? ''}`;
const sections = [...byText].map(
  ([text, users]) => `${LINE}\n${users.map(titleOf).join('\n')}\n${LINE}\n\n${text}\n`,
);

const printed = `Third-party software of the Lingua Scheduler

${shipped.length} packages that an installation for production contains, in addition to the packages of this project, which are
under the Apache License 2.0 (LICENSE). The programs and models that a speech node calls are no part of it: users
install these themselves, under their own licences. "npm run notices" writes this file.

${sections.join('\n')}`;

if (process.argv.includes('--check')) {
  if (existsSync(FILE) && readFileSync(FILE, 'utf8') === printed) process.exit(0);
  console.error('notices: THIRD-PARTY-NOTICES.txt differs; run "npm run notices" and commit the file');
  process.exit(1);
}
writeFileSync(FILE, printed);
console.log(`THIRD-PARTY-NOTICES.txt: ${shipped.length} packages, ${byText.size} texts`);
