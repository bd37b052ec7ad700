/** Reads the configuration file and the files of secrets; everything else is `loadConfig`. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { findExposedFiles } from './exposed-files.ts';
import { type ConfigSources, type LoadResult, loadConfig, locate } from './load-config.ts';
import type { CheckFinding } from './origin.ts';
import { checkWebhooks, withSecrets } from './settings/check-webhooks.ts';
import type { Config } from './settings.ts';
import { checkTokens, withTokens } from './tokens.ts';

const DEFAULT_PATH = 'config.toml';

/** Without a path `config.toml` is read if it exists; a requested path must exist. */
export async function readConfig(
  options: { readonly path?: string | undefined } & Omit<ConfigSources, 'toml'>,
): Promise<LoadResult> {
  const path = options.path ?? DEFAULT_PATH;
  const file = await readText(path);
  if (file.kind === 'failed' && (options.path !== undefined || file.code !== 'ENOENT')) {
    const message = `cannot be read: ${file.code}`;
    return { kind: 'invalid', problems: [{ key: path, message, origin: { kind: 'file', path } }] };
  }
  const toml = file.kind === 'text' ? { text: file.text, path } : undefined;
  const loaded = loadConfig({ ...options, toml });
  if (loaded.kind !== 'ok') return loaded;
  const folder = dirname(path);
  const located = withPaths(loaded, folder);
  // Before the names of token files are replaced by their contents.
  const exposed = await findExposedFiles(located.config, path);
  const warnings = [...located.warnings, ...exposed.map((finding) => locate(finding, loaded.origins))];
  const keyed = await readKeyFiles({ ...located, warnings }, folder);
  return keyed.kind === 'ok' ? readRowFiles(keyed, folder) : keyed;
}

type Loaded = Extract<LoadResult, { kind: 'ok' }>;

/** Like the paths of other files: relative to the configuration file. */
function withPaths(loaded: Loaded, folder: string): Loaded {
  const { audit, server } = loaded.config;
  const file = audit.file === 'off' || audit.file === 'stdout' ? audit.file : resolve(folder, audit.file);
  const at = (path: string | undefined) => path && resolve(folder, path);
  const { cert_file, key_file, client_ca_file, ca_file } = server.tls;
  const tls = {
    cert_file: at(cert_file),
    key_file: at(key_file),
    client_ca_file: at(client_ca_file),
    ca_file: at(ca_file),
  };
  return { ...loaded, config: { ...loaded.config, audit: { file }, server: { ...server, tls } } };
}

/** Settings with a secret that a file may contain instead, and what the secret must look like. */
const KEY_FILES = [
  {
    key: 'callback_key',
    isValid: (text: string) => /^\S{32,256}$/.test(text),
    expected: '32 to 256 characters without spaces',
  },
  { key: 'token_keys', isValid: (text: string) => text !== '', expected: 'keys' },
] as const;

async function readKeyFiles(loaded: Loaded, folder: string): Promise<LoadResult> {
  let { config } = loaded;
  for (const { key, isValid, expected } of KEY_FILES) {
    const name = `${key}_file` as const;
    const path = config.server[name];
    if (path === undefined) continue;
    const refuse = (message: string): LoadResult => ({
      kind: 'invalid',
      problems: [locate({ keys: [`server.${name}`], message }, loaded.origins)],
    });
    if (config.server[key] !== undefined) return refuse(`cannot be given together with server.${key}`);
    const file = await readText(resolve(folder, path));
    if (file.kind === 'failed') return refuse(`cannot be read: ${path}: ${file.code}`);
    const text = file.text.trim();
    if (!isValid(text)) return refuse(`${path} must contain ${expected}`);
    config = { ...config, server: { ...config.server, [key]: text } };
    const [problem] = key === 'token_keys' ? checkTokens(config).problems : [];
    if (problem !== undefined) return refuse(`${path} ${problem.message}`);
  }
  return { ...loaded, config };
}

/** Rows with a file that contains their secret. */
const ROW_FILES = [
  {
    key: 'server.tokens',
    column: 'token_file',
    paths: ({ server }: Config) => server.tokens.map(({ token_file }) => token_file),
    fill: withTokens,
    check: checkTokens,
  },
  {
    key: 'webhooks.receivers',
    column: 'secret_file',
    paths: ({ webhooks }: Config) => webhooks.receivers.map(({ secret_file }) => secret_file),
    fill: withSecrets,
    check: checkWebhooks,
  },
] as const;

async function readRowFiles(loaded: Loaded, folder: string): Promise<LoadResult> {
  const problems: CheckFinding[] = [];
  let { config } = loaded;
  for (const { key, column, paths, fill, check } of ROW_FILES) {
    const contents = new Map<number, string>();
    const unread: CheckFinding[] = [];
    for (const [index, path] of paths(config).entries()) {
      if (path === undefined) continue;
      const file = await readText(resolve(folder, path));
      if (file.kind === 'text') contents.set(index, file.text.trim());
      else
        unread.push({
          keys: [`${key}[${index}].${column}`],
          message: `cannot be read: ${path}: ${file.code}`,
        });
    }
    if (contents.size + unread.length === 0) continue;
    config = fill(config, contents);
    problems.push(...unread, ...check(config).problems);
  }
  return problems.length === 0
    ? { ...loaded, config }
    : { kind: 'invalid', problems: problems.map((problem) => locate(problem, loaded.origins)) };
}

type Read =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'failed'; readonly code: string };

async function readText(path: string): Promise<Read> {
  try {
    return { kind: 'text', text: await readFile(path, 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { kind: 'failed', code };
  }
}
