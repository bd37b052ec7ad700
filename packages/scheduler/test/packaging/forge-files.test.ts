/** The files that a hosted forge reads: forms for issues and pull requests, and the workflow that runs .ci/run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../architecture/source-files.ts';

const read = (path: string): string => readFileSync(join(ROOT, '.github', path), 'utf8');

interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: object }[];
}

describe('issue forms', () => {
  const forms = readdirSync(join(ROOT, '.github/ISSUE_TEMPLATE')).filter((name) => name !== 'config.yml');

  it.each(forms)('%s asks named questions, and at least one is required', (name) => {
    const form = parse(read(`ISSUE_TEMPLATE/${name}`)) as Form;
    expect([form.name, form.description].every((text) => /\w/.test(text))).toBe(true);
    const questions = form.body.filter(({ type }) => type !== 'markdown');
    const ids = questions.map(({ id }) => id);
    expect(new Set(ids).size).toBe(questions.length);
    expect(ids).not.toContain(undefined);
    expect(questions.every(({ attributes }) => 'label' in attributes)).toBe(true);
    expect(JSON.stringify(form.body)).toContain('"required":true');
  });

  it('issues without a form are closed, so that vulnerabilities meet the note about them', () => {
    expect(parse(read('ISSUE_TEMPLATE/config.yml'))).toEqual({ blank_issues_enabled: false });
    expect(read('ISSUE_TEMPLATE/bug.yml')).toContain('SECURITY.md');
    expect(existsSync(join(ROOT, 'SECURITY.md'))).toBe(true);
  });
});

describe('the workflow', () => {
  const text = read('workflows/ci.yml');
  const workflow = parse(text) as {
    readonly permissions: object;
    readonly jobs: Readonly<
      Record<string, { readonly steps: readonly { readonly run?: string; readonly uses?: string }[] }>
    >;
  };
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  it('the workflow ends with .ci/run and says that it was not run here', () => {
    expect(steps.at(-1)?.run).toBe('.ci/run');
    expect(existsSync(join(ROOT, '.ci/run'))).toBe(true);
    expect(text).toMatch(/^# Not run here/);
  });

  it('foreign actions are pinned to a commit, and the token may only read', () => {
    const used = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([]);
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });
});
