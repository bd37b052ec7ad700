/** The configuration in effect, and where each value came from. */
import type { ConfigReply } from '@lingua/protocol';
import { useState } from 'preact/hooks';
import { useResource } from '../data/use-resource.ts';
import { Loaded, Table } from '../show/parts.tsx';
import { t, tOr } from '../texts/text.ts';

type Setting = ConfigReply['settings'][number];

export function Settings() {
  const resource = useResource<ConfigReply>('api/v1/config');
  const [words, setWords] = useState('');
  const [isAll, setAll] = useState(false);
  const keep = ({ key, origin, doc }: Setting): boolean =>
    (isAll || words !== '' || origin !== 'default') &&
    `${key} ${doc}`.toLowerCase().includes(words.toLowerCase());
  return (
    <section>
      <div class="section-head">
        <h2>{t('config.title')}</h2>
        <button type="button" aria-pressed={isAll} onClick={() => setAll(!isAll)}>
          {t('config.all')}
        </button>
      </div>
      <div class="filters">
        <input
          type="search"
          aria-label={t('config.search')}
          placeholder={t('config.search')}
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </div>
      <Loaded of={resource}>
        {({ settings }) => {
          const shown = settings.filter(keep);
          if (shown.length === 0)
            return <p class="quiet">{t(words === '' ? 'config.defaults' : 'config.no_match')}</p>;
          return (
            <Table
              label={t('config.title')}
              head={[t('config.key'), t('config.value'), t('config.origin'), t('config.doc')]}
            >
              {shown.map(({ key, value, origin, doc }) => (
                <tr key={key}>
                  <th scope="row">
                    <code>{key}</code>
                  </th>
                  <td>
                    <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
                  </td>
                  <td>{tOr(`origin.${origin}`, origin)}</td>
                  <td class="wrap quiet">{doc}</td>
                </tr>
              ))}
            </Table>
          );
        }}
      </Loaded>
    </section>
  );
}
