/** Checks of every random history of sessions: messages to clients, job requests and the state that remains. */
import type { SessionOutput, UiEventName } from '../../../src/session/output.ts';
import { type History, isOf, type Player, toldTo } from './random-history.ts';

type Outcome = Extract<SessionOutput, { kind: 'outcome' }>['delivered'];

const STAGES: readonly UiEventName[] = [
  'INPUT_STARTED',
  'INPUT_ENDED',
  'DISPATCHED',
  'NODE_ACCEPTED',
  'ASR_PARTIAL',
  'ASR_FINAL',
  'NMT_DONE',
];

export function problemsOf(history: History): string[] {
  const problems = history.players.flatMap((player) =>
    [
      ...orderProblems(player),
      ...acceptanceProblems(player),
      ...stageProblems(player),
      ...quietProblems(player),
      ...audioProblems(history, player),
    ].map((problem) => `${player.kind} ${player.sessionId.slice(2, 6)}: ${problem}`),
  );
  return [...new Set([...problems, ...leftovers(history)])];
}

const outcomesOf = (sent: readonly SessionOutput[]): Outcome[] =>
  sent.flatMap((one) => (one.kind === 'outcome' ? [one.delivered] : []));

/** I5; an outcome is repeated only with the same number, and only to clients that acknowledge. */
function orderProblems(player: Player): string[] {
  const problems: string[] = [];
  const seen = new Map<number, Outcome>();
  for (const delivered of outcomesOf(toldTo(player))) {
    const { utterance, deliverySeq, outcome } = delivered;
    const before = seen.get(utterance.index);
    seen.set(utterance.index, delivered);
    if (before === undefined) continue;
    if (player.kind !== 'sdk') problems.push(`outcome ${utterance.index} is sent twice`);
    if (before.deliverySeq !== deliverySeq || before.outcome !== outcome)
      problems.push(`outcome ${utterance.index} is sent twice and differs`);
  }
  const firsts = [...seen.values()];
  for (const [at, { utterance, deliverySeq }] of firsts.entries()) {
    const before = firsts[at - 1];
    if (before === undefined) continue;
    if (utterance.index <= before.utterance.index)
      problems.push(`I5 ${utterance.index} comes after ${before.utterance.index}`);
    if (deliverySeq !== before.deliverySeq + 1) problems.push(`delivery_seq ${deliverySeq} leaves a hole`);
  }
  for (const { after, deliverySeq } of player.acks) {
    const late = outcomesOf(toldTo(player).slice(after)).filter((one) => one.deliverySeq <= deliverySeq);
    if (late.length > 0) problems.push(`${deliverySeq} was acknowledged and is sent again`);
  }
  if (player.view !== undefined) {
    const expected = Array.from({ length: player.view.nextIndex }, (_, index) => index);
    const missing = expected.filter((index) => !seen.has(index));
    if (missing.length > 0) problems.push(`I5 no outcome of ${missing}`);
    if (seen.size > expected.length) problems.push('I5 an outcome of nothing');
  }
  return problems;
}

function acceptanceProblems(player: Player): string[] {
  if (player.kind !== 'sdk') return [];
  const problems: string[] = [];
  for (const { sent } of player.links) {
    const accepted = new Set<number>();
    for (const one of sent) {
      if (one.kind === 'accepted') accepted.add(one.utterance.index);
      if (one.kind === 'outcome' && !accepted.has(one.delivered.utterance.index))
        problems.push(
          `outcome ${one.delivered.utterance.index} on a connection that did not hear of its acceptance`,
        );
    }
    // A repeated whole utterance is accepted again at any time.
    const isAfter = sent.some(
      (one, at) =>
        one.kind === 'accepted' &&
        one.utterance.firstSeq !== undefined &&
        outcomesOf(sent.slice(0, at)).some(({ utterance }) => utterance === one.utterance),
    );
    if (isAfter) problems.push('accepted after its outcome');
  }
  return problems;
}

function stageProblems(player: Player): string[] {
  const problems: string[] = [];
  const last = new Map<number, number>();
  for (const one of toldTo(player)) {
    if (one.kind !== 'ui_event') continue;
    const stage = STAGES.indexOf(one.event);
    if (stage < 0) continue;
    const { index } = one.about;
    const before = last.get(index) ?? -1;
    if (stage === before) problems.push(`${one.event} ${index} is sent twice`);
    if (stage < before) problems.push(`${one.event} ${index} comes after ${STAGES[before]}`);
    last.set(index, stage);
  }
  return problems;
}

function quietProblems(player: Player): string[] {
  const sent = toldTo(player);
  const problems: string[] = [];
  const closedAt = sent.findIndex(({ kind }) => kind === 'closed');
  if (closedAt >= 0 && closedAt < sent.length - 1) problems.push('a message is sent after the close');
  for (const one of sent) {
    if (player.kind !== 'legacy') break;
    if (one.kind === 'accepted' || one.kind === 'draining') problems.push(`gets ${one.kind}`);
    if (one.kind === 'pressure' && one.action !== 'PAUSE') problems.push(`gets ${one.action}`);
    if (one.kind === 'error' && one.code !== 'RATE_LIMITED') problems.push(`is shown an error: ${one.code}`);
    if (one.kind === 'error' && one.details?.utterance_index !== undefined)
      problems.push('is shown an error of an utterance');
  }
  const { view } = player;
  if (view !== undefined && (view.running > 0 || view.pending > 0 || view.audioBytes > 0))
    problems.push(`is not quiet: ${view.running} run, ${view.pending} wait, ${view.audioBytes} bytes`);
  return problems;
}

/** All accepted audio is in a job or in a refused utterance, in order. */
function audioProblems({ rig, isTight }: History, player: Player): string[] {
  const { sent, view } = player;
  const jobs = rig.dispatcher.jobs.filter((job) => isOf(job, player));
  let complaint = '';

  /** Utterances above the limit have outcomes but no job. Repeated audio may be in several jobs. */
  function fits(count: number, at: number, next: number): boolean {
    const job = jobs[count];
    if (job === undefined) {
      const isComplete = view === undefined || at === sent.length || (isTight && next < view.nextIndex);
      if (!isComplete) complaint ||= `audio "${sent.slice(at)}" is in no job`;
      return isComplete;
    }
    const { utteranceIndex } = job.request.spec;
    const isGap = isTight && utteranceIndex > next;
    for (let found = sent.indexOf(job.text, at); found >= 0; found = sent.indexOf(job.text, found + 1)) {
      if (found > at && !isGap) break;
      if (fits(count + 1, found + job.text.length, utteranceIndex + 1)) return true;
    }
    complaint ||= `audio "${job.text}" is not what comes after "${sent.slice(0, at)}"`;
    return false;
  }

  return fits(0, 0, 0) ? [] : [complaint];
}

function leftovers({ rig }: History): string[] {
  const left = { ...rig.service.counts(), audio: rig.audio.size(), timers: rig.clock.pending() };
  return Object.entries(left)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${count} ${name} left`);
}
