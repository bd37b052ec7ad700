/** The scenarios that are programs, by name: apart from the programs, so that a list of names loads none. */

export const SUITE_TITLES = {
  decision: 'the whole decision in process, at four fleet sizes',
  heartbeats: 'heartbeats, from the frame to the updated view',
  memory: 'memory of a node and of a job in flight',
  http: 'HTTP dispatch next to an empty Fastify route',
  cycle: 'full cycles over real WebSockets',
  sessions: 'idle and speaking sessions, chunks next to a bare echo, waiting time of an utterance',
  redis: 'the engine on Redis next to BullMQ',
  'redis-cost': 'commands of jobs and nodes to Redis, and the keys they leave',
  reserve: 'how often the first node tried has a slot, with three instances',
  stats: 'dispatch beside a dashboard that polls all the time',
  live: 'people who watch the live feed, and the memory of its history',
  console: 'the web console with 10,000 nodes and 100,000 jobs, in Chromium',
  stages:
    'ten target languages next to one whole job per language, on virtual time: a model; one language on Redis, planned and as one job',
  rooms: 'captions for thousands of listeners next to a bare broadcast, commands to Redis, memory of members',
  hub: 'dispatch without the ModelHub, and the cost of refreshing',
  fairness: 'how long one tenant waits while another floods',
} as const;

export type SuiteName = keyof typeof SUITE_TITLES;
export const SUITE_NAMES = Object.keys(SUITE_TITLES) as SuiteName[];
/** They start their own redis-server. */
export const SUITES_ON_REDIS: readonly SuiteName[] = ['redis', 'redis-cost', 'reserve', 'stages', 'rooms'];
export const isSuite = (name: string): name is SuiteName => name in SUITE_TITLES;
