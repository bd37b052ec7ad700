/** The frame of every page: navigation, connection, preferences, and the page that the address names. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { identity, isGuest, mayTalk, mayWatch, needsLogin } from '../data/credentials.ts';
import { feedError, reconnect } from '../data/live-feed.ts';
import { RequestError } from '../data/request.ts';
import { Empty, Failure } from '../show/parts.tsx';
import { t } from '../texts/text.ts';
import { Header } from './header.tsx';
import { Login } from './login.tsx';
import { IS_JOIN, IS_TALK, linkTo, route, SPOKEN } from './router.ts';

type Page = ComponentType;

/** Each page is loaded when it is opened, so that the first one appears soon. */
const PAGES: Readonly<Record<string, () => Promise<Page>>> = {
  overview: async () => (await import('../pages/overview.tsx')).Overview,
  fleet: async () => (await import('../pages/fleet.tsx')).Fleet,
  node: async () => (await import('../pages/node.tsx')).NodePage,
  languages: async () => (await import('../pages/languages.tsx')).Languages,
  jobs: async () => (await import('../pages/jobs.tsx')).Jobs,
  job: async () => (await import('../pages/job.tsx')).JobPage,
  sessions: async () => (await import('../pages/sessions.tsx')).Sessions,
  session: async () => (await import('../pages/session.tsx')).SessionPage,
  cluster: async () => (await import('../pages/cluster.tsx')).Cluster,
  tenants: async () => (await import('../pages/tenants.tsx')).Tenants,
  rooms: async () => (await import('../rooms/rooms.tsx')).Rooms,
  room: async () => (await import('../rooms/room.tsx')).RoomPage,
  runbook: async () => (await import('../pages/runbook.tsx')).Runbook,
};
const loadJoin = async (): Promise<Page> => (await import('../rooms/join.tsx')).Join;
const loadNoInvitation = async (): Promise<Page> => (await import('../rooms/join.tsx')).NoInvitation;
const loadTalk = async (): Promise<Page> => (await import('../talk/talk.tsx')).Talk;

export function App() {
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a part of this page, as screen readers expect; only the address stays. */}
      <a class="skip" href="#main" onClick={skipToMain}>
        {t('nav.skip')}
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <Content />
      </main>
    </>
  );
}

/** The address keeps naming the page. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Content() {
  if (IS_JOIN && needsLogin.value !== false) return <Later key="uninvited" load={loadNoInvitation} />;
  if (needsLogin.value !== false) return <Login why={needsLogin.value} />;
  if (identity.value === undefined)
    return feedError.value === undefined ? (
      <Empty>{t('page.loading')}</Empty>
    ) : (
      <Failure error={feedError.value} onRetry={reconnect} />
    );
  if (IS_JOIN)
    return isGuest.value || mayTalk.value ? (
      <Later key="join" load={loadJoin} />
    ) : (
      <Empty>{t('login.no_talk')}</Empty>
    );
  if (IS_TALK) return mayTalk.value ? <Later load={loadTalk} /> : <Empty>{t('login.no_talk')}</Empty>;
  const { page, id } = route.value;
  if (SPOKEN.has(page)) {
    if (!mayTalk.value) return <Empty>{t('login.no_rooms')}</Empty>;
  } else if (!mayWatch.value) return <NoWatch role={identity.value.role} />;
  const load = PAGES[page];
  return load === undefined ? (
    <Empty>{t('page.unknown')}</Empty>
  ) : (
    <Later key={`${page}/${id}`} load={load} />
  );
}

const NoWatch = ({ role }: { role: string }) => (
  <Empty>
    {t('login.no_watch', { role })} {mayTalk.value && <a href={linkTo('talk')}>{t('login.to_talk')}</a>}
  </Empty>
);

/** A page whose script is loaded when it is opened. */
function Later({ load }: { load: () => Promise<Page> }) {
  const [loaded, setLoaded] = useState<{ Page: Page } | 'failed'>();
  useEffect(() => {
    load().then(
      (Page) => setLoaded({ Page }),
      () => setLoaded('failed'),
    );
  }, [load]);
  if (loaded === undefined) return <Empty>{t('page.loading')}</Empty>;
  // A browser keeps the failure of a script until the document is loaded again.
  if (loaded === 'failed')
    return (
      <Failure error={new RequestError(0, 'PAGE_NOT_LOADED', '', '')} onRetry={() => location.reload()} />
    );
  return <loaded.Page />;
}
