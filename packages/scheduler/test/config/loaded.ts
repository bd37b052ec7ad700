/** Helpers of the configuration tests: load and require an outcome. */
import { type ConfigSources, loadConfig } from '../../src/config/load-config.ts';
import { printFinding } from '../../src/config/origin.ts';

export function loaded(sources: ConfigSources = {}) {
  const result = loadConfig(sources);
  if (result.kind === 'invalid') throw new Error(result.problems.map(printFinding).join('\n'));
  return result;
}

export const configOf = (text: string) => loaded({ toml: { text, path: 'config.toml' } }).config;

export function problemsOf(sources: ConfigSources | string): readonly string[] {
  const result = loadConfig(
    typeof sources === 'string' ? { toml: { text: sources, path: 'config.toml' } } : sources,
  );
  return result.kind === 'invalid' ? result.problems.map(printFinding) : [];
}

export const warningsOf = (text: string): readonly string[] =>
  loaded({ toml: { text, path: 'config.toml' } }).warnings.map(printFinding);
