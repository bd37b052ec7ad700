// Writes every document that is printed from the code. With --check it writes nothing and ends with 1 if one differs.
// It reads the built packages, so `npm run build` comes first.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isCheck = process.argv.includes('--check');

const newest = (folder) =>
  Math.max(
    0,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );

for (const name of ['protocol', 'scheduler']) {
  const folder = join(root, 'packages', name);
  if (!existsSync(join(folder, 'dist')) || newest(join(folder, 'src')) > newest(join(folder, 'dist'))) {
    console.error(`docs: packages/${name} is not built, or changed since; run "npm run build" first`);
    process.exit(1);
  }
}

const { PRINTED_DOCUMENTS } = await import('../packages/scheduler/dist/cli/docs/printed-documents.js');
let differing = 0;
for (const { path, print } of PRINTED_DOCUMENTS) {
  const file = join(root, path);
  const text = await print();
  const isSame = existsSync(file) && readFileSync(file, 'utf8') === text;
  if (isSame) {
    console.log(`unchanged  ${path}`);
    continue;
  }
  differing += 1;
  if (!isCheck) writeFileSync(file, text);
  console.log(`${isCheck ? 'DIFFERS  ' : 'written  '}  ${path}`);
}
if (isCheck && differing > 0) {
  console.error('docs: run "npm run build && npm run docs" and commit what it writes');
  process.exit(1);
}
