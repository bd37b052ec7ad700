/** The scenarios that are programs, by name: apart from the programs, so that a list of names loads none. */

export const SUITE_TITLES = {
  decision: 'the whole decision in process, at four fleet sizes',
  heartbeats: 'heartbeats, from the frame to the corrected view',
  memory: 'what a node and a job in flight weigh',
  http: 'HTTP dispatch next to an empty Fastify route',
  cycle: 'full cycles over real WebSockets',
  sessions: 'idle and speaking sessions, chunks next to a bare echo, what an utterance waits',
  redis: 'the engine on Redis next to BullMQ',
  'redis-cost': 'what jobs and nodes ask of Redis, and what they leave there',
  reserve: 'how often the first node asked has a slot, with three instances',
  stats: 'dispatch beside a dashboard that asks all the time',
  hub: 'dispatch without the ModelHub, and the price of refreshing',
  fairness: 'how long one tenant waits while another floods',
} as const;

export type SuiteName = keyof typeof SUITE_TITLES;
export const SUITE_NAMES = Object.keys(SUITE_TITLES) as SuiteName[];
/** They start their own redis-server. */
export const SUITES_ON_REDIS: readonly SuiteName[] = ['redis', 'redis-cost', 'reserve'];
export const isSuite = (name: string): name is SuiteName => name in SUITE_TITLES;
