/** A visit of every page with real data: what it shows, and that people can use it. */
import { openSession } from '@lingua/sdk/client';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { HEALTHY } from '../../../scheduler/src/cli/simulated-node/behaviour.ts';
import { eventually } from '../../../scheduler/test/support/eventually.ts';
import { faultsOf, shows, startWorld, type World } from './console-world.ts';
import { findBarriers } from './find-barriers.ts';

export interface TalkedWorld extends World {
  readonly sessionId: string;
  readonly jobId: string;
  /** A room with one member, in which nothing was said. */
  readonly roomId: string;
  /** The translation of that job. */
  readonly words: string;
}

/** Six nodes, one of which fails its jobs, and a session that had one utterance translated. */
export async function startTalkedWorld(): Promise<TalkedWorld> {
  const world = await startWorld({
    nodes: 6,
    mix: [
      { share: 5, behaviour: HEALTHY },
      { share: 1, behaviour: { ...HEALTHY, failureRate: 1 } },
    ],
  });
  let [jobId, words] = ['', ''];
  const session = openSession({ url: world.url, srcLang: 'en', tgtLang: 'de', WebSocket });
  session.on('result', ({ message, textTranslated }) => {
    jobId = message.job_id;
    words = textTranslated;
  });
  session.sendUtterance(new Uint8Array(32_000));
  await eventually(() => jobId !== '');
  const room = await session.rooms.create({ name: 'Ana', title: 'Team meeting', hears: { language: 'de' } });
  return {
    ...world,
    sessionId: session.sessionId ?? '',
    jobId,
    roomId: room.id ?? '',
    words,
    async stop() {
      await session.close();
      await world.stop();
    },
  };
}

export interface View {
  readonly theme: 'light' | 'dark';
  readonly language: 'en' | 'zh';
  readonly width: number;
}

/** Every page shows its data, without barriers and without sideways scrolling. */
export async function visitAllPages(world: TalkedWorld, { theme, language, width }: View): Promise<void> {
  const page = await world.open('/', { theme, language, viewport: { width, height: 800 } });
  for (const [path, english, chinese] of pagesOf(world)) {
    await page.goto(`${world.url}/#/${path}`);
    await shows(page, language === 'en' ? english : chinese);
    expect(await findBarriers(page), path).toEqual([]);
    const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    expect(isWide, `${path} is wider than the window`).toBe(false);
  }
  expect(faultsOf.get(page)).toEqual([]);
  await page.context().close();
}

const pagesOf = ({
  jobId,
  sessionId,
  roomId,
  words,
}: TalkedWorld): [path: string, en: string, zh: string][] => [
  ['overview', '6 / 6', '就绪节点'],
  ['fleet?group=health', '6 of 6 nodes', '显示 6 / 6 个节点'],
  ['node/node-1', 'What it can do', '能力'],
  ['languages?pair=en-de', 'nodes could take such a job now', '可以接受此类任务'],
  ['jobs', jobId, '结果'],
  [`job/${jobId}`, words, '时间线'],
  ['sessions', sessionId, '连接'],
  [`session/${sessionId}`, words, '时间轴'],
  ['rooms', 'Team meeting', '新建房间'],
  [`room/${roomId}`, 'Nothing was said yet', '还没有人说话'],
  ['cluster', 'No instance took over jobs', '没有实例接管过其他实例的任务'],
  ['tenants', 'default', '优先级'],
  ['runbook/LinguaNoInstance', 'No instance of the scheduler is scraped', '处理手册'],
];
