/** Navigation, how current the data is, language, theme and login. */
import { identity, isGuest, logOut, mayTalk, mayWatch } from '../data/credentials.ts';
import { attention, isConnected, receivedAt, tick } from '../data/live-feed.ts';
import { duration } from '../show/format.ts';
import type { TextKey } from '../texts/tables.ts';
import { t } from '../texts/text.ts';
import { language, type Theme, theme } from './preferences.ts';
import { IS_JOIN, IS_TALK, linkTo, route, SPOKEN } from './router.ts';

const PAGES: readonly { page: string; label: TextKey; also?: string }[] = [
  { page: 'overview', label: 'nav.overview', also: 'runbook' },
  { page: 'fleet', label: 'nav.fleet', also: 'node' },
  { page: 'languages', label: 'nav.languages' },
  { page: 'jobs', label: 'nav.jobs', also: 'job' },
  { page: 'sessions', label: 'nav.sessions', also: 'session' },
  { page: 'cluster', label: 'nav.cluster' },
  { page: 'tenants', label: 'nav.tenants' },
  { page: 'rooms', label: 'nav.rooms', also: 'room' },
  { page: 'talk', label: 'nav.talk' },
];

export function Header() {
  const current = IS_TALK ? 'talk' : route.value.page;
  const visible = IS_JOIN
    ? []
    : PAGES.filter(({ page }) => (SPOKEN.has(page) ? mayTalk.value : mayWatch.value));
  return (
    <header class="bar-top">
      <a class="brand" href={IS_JOIN ? location.hash : linkTo('overview')}>
        <img src="./icon.svg" alt="" width={24} height={24} /> Lingua
      </a>
      {visible.length > 0 && (
        <nav aria-label={t('nav.label')}>
          {visible.map(({ page, label, also }) => (
            <a
              key={page}
              href={linkTo(page)}
              aria-current={current === page || current === also ? 'page' : undefined}
            >
              {t(label)}
              {page === 'overview' && <AttentionCount />}
            </a>
          ))}
        </nav>
      )}
      <div class="tools">
        {mayWatch.value && !IS_JOIN && <Freshness />}
        <button
          type="button"
          class="plain"
          lang={language.value === 'en' ? 'zh-CN' : 'en'}
          onClick={() => {
            language.value = language.value === 'en' ? 'zh' : 'en';
          }}
        >
          {language.value === 'en' ? '中文' : 'English'}
        </button>
        <select
          aria-label={t('theme.label')}
          value={theme.value}
          onChange={(event) => {
            theme.value = event.currentTarget.value as Theme;
          }}
        >
          <option value="system">{t('theme.system')}</option>
          <option value="light">{t('theme.light')}</option>
          <option value="dark">{t('theme.dark')}</option>
        </select>
        <Who />
      </div>
    </header>
  );
}

function AttentionCount() {
  const urgent = attention.value.filter(({ severity }) => severity !== 'info');
  if (urgent.length === 0) return null;
  const tone = urgent.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning';
  return (
    <span class={`badge ${tone}`} title={t('attention.title')}>
      {urgent.length}
    </span>
  );
}

function Freshness() {
  const age = tick.value - receivedAt.value;
  if (receivedAt.value === 0) return <span class="fresh">{t('feed.connecting')}</span>;
  if (isConnected.value && age < 5_000) return <span class="fresh live">{t('feed.live')}</span>;
  return (
    <span class="fresh stale" role="status">
      {t('feed.stale', { age: duration(Math.max(1_000, age)) })}
    </span>
  );
}

function Who() {
  const { value } = identity;
  if (value === undefined || value.is_anonymous || isGuest.value) return null;
  return (
    <span class="who">
      <span class="quiet">{value.name ?? value.role}</span>
      <button type="button" class="plain" onClick={logOut}>
        {t('login.out')}
      </button>
    </span>
  );
}
