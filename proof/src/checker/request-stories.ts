/** What clients saw, by request. Pure. */
import { type HistoryEvent, ofKind, type Part } from '../../../packages/simulation/dist/history.js';

type Outcome = Extract<HistoryEvent, { kind: 'outcome' }>;

export interface RequestStory {
  readonly client: string;
  readonly request: string;
  readonly tenant: string | undefined;
  /** The strict pool of its tenant. */
  readonly pool: string | undefined;
  /** The first time. */
  askedAt: number | undefined;
  words: string | undefined;
  /** Of an utterance in several languages. */
  part: Part | undefined;
  /** The first time; of a part the last one: a repeat runs its plan again. */
  acceptedAt: number | undefined;
  /** When each was first accepted. */
  readonly jobs: Map<string, number>;
  readonly outcomes: Outcome[];
  isAbandoned: boolean;
  /** The client has left: nothing can be delivered. */
  hasLeft: boolean;
}

/** In the order of their first events. */
export function requestStories(history: readonly HistoryEvent[]): RequestStory[] {
  const tenants = new Map<string, Map<string, RequestStory>>();
  const tenantOf = new Map<string, string>();
  const left = new Set<string>();
  const stories: RequestStory[] = [];

  /** Ids are unique only within a tenant. */
  function storyOf(client: string, request: string, pool?: string): RequestStory {
    const tenant = tenantOf.get(client);
    const name = tenant ?? '';
    let requests = tenants.get(name);
    if (requests === undefined) {
      requests = new Map();
      tenants.set(name, requests);
    }
    let story = requests.get(request);
    if (story === undefined) {
      story = {
        client,
        request,
        tenant,
        pool,
        askedAt: undefined,
        words: undefined,
        part: undefined,
        acceptedAt: undefined,
        jobs: new Map(),
        outcomes: [],
        isAbandoned: false,
        hasLeft: false,
      };
      requests.set(request, story);
      stories.push(story);
    }
    return story;
  }

  for (const each of ofKind(history, 'asked', 'accepted', 'outcome', 'abandoned', 'client_left')) {
    if (each.kind === 'client_left') {
      left.add(each.client);
      continue;
    }
    if (each.kind === 'asked' && each.tenant !== undefined) tenantOf.set(each.client, each.tenant);
    const story = storyOf(each.client, each.request, each.kind === 'asked' ? each.pool : undefined);
    if (each.kind === 'asked') {
      story.askedAt ??= each.at;
      story.words = each.words;
      story.part = each.part;
    } else if (each.kind === 'accepted') {
      story.acceptedAt = story.part === undefined ? (story.acceptedAt ?? each.at) : each.at;
      if (each.job !== undefined && !story.jobs.has(each.job)) story.jobs.set(each.job, each.at);
    } else if (each.kind === 'outcome') story.outcomes.push(each);
    else story.isAbandoned = true;
  }
  for (const story of stories) story.hasLeft = left.has(story.client);
  return stories;
}
