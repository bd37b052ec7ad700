/** The runbook entry of something that needs attention. The entries are those of docs/runbook.md, taken in by the build. */
import type { ComponentChildren } from 'preact';
import runbook from '../../../../docs/runbook.md?raw';
import { linkTo, route } from '../shell/router.ts';
import { Empty } from '../show/parts.tsx';
import { t } from '../texts/text.ts';

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

/** Bold and code; links lead to files that the server does not have, so only their text is kept. */
function inline(text: string): ComponentChildren[] {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/(\*\*[^*]+\*\*|`[^`]+`)/)
    .map((part) => {
      if (part.startsWith('**')) return <strong>{part.slice(2, -2)}</strong>;
      return part.startsWith('`') ? <code>{part.slice(1, -1)}</code> : part;
    });
}

export function Runbook() {
  const { id } = route.value;
  const entries = runbook.split(/^(?=#{2,3} )/m);
  const entry = entries.find(
    (text) => anchorOf(text.split('\n', 1)[0]?.replace(/^#+ /, '') ?? '') === id.toLowerCase(),
  );
  const [heading = '', ...lines] = (entry ?? '').split('\n').filter((line) => line !== '');
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('overview')}>{t('nav.overview')}</a> / {t('attention.runbook')}
      </p>
      {entry === undefined ? (
        <Empty>{t('runbook.unknown', { id })}</Empty>
      ) : (
        <article class="runbook card" lang="en">
          <h1>{heading.replace(/^#+ /, '')}</h1>
          {lines
            .filter((line) => !line.startsWith('- '))
            .map((line) => (
              <p key={line}>{inline(line)}</p>
            ))}
          <ul>
            {lines
              .filter((line) => line.startsWith('- '))
              .map((line) => (
                <li key={line}>{inline(line.slice(2))}</li>
              ))}
          </ul>
        </article>
      )}
    </>
  );
}
