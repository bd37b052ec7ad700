/** A client like the SDK, with its real outbox, that connects to the instance that a test names and records what it receives. */
import { createOutbox, type Outbox } from '../../../../sdk/src/client/outbox.ts';
import type { SessionLink, SessionOutput } from '../../../src/session/output.ts';
import type { Opening } from '../../../src/session/session.ts';
import { partsOf } from '../../../src/session/speech/new-utterance.ts';
import type { RunningInstance } from './instances-rig.ts';
import { opening, speech } from './session-rig.ts';

const LIMITS = { maxKeptBytes: 1_000_000, maxJoinedBytes: 64, maxUtterancesInFlight: 1_000 };

export interface MovingClient {
  readonly outbox: Outbox;
  readonly sessionId: string | undefined;
  /** To resume with. */
  readonly resume: Opening['resume'];
  /** Ids of its sessions. */
  readonly sessions: readonly string[];
  /** Each outcome once, as it was received first: `index:text` or `index!reason`. */
  readonly received: readonly string[];
  readonly accepted: ReadonlySet<number>;
  /** All messages on this connection. */
  readonly sent: readonly SessionOutput[];
  readonly complaints: readonly string[];
  readonly isConnected: boolean;
  /** How the instance ended its last connection. */
  readonly cutBy: 'replaced' | 'abandoned' | undefined;
  connect(instance: RunningInstance): Promise<'opened' | 'full' | 'unavailable'>;
  say(text: string): void;
  end(): void;
  utter(text: string): void;
  /** Sends the waiting messages of the outbox. */
  pump(most?: number): void;
  acknowledge(): void;
  /** The connection breaks; a live instance notices. */
  leave(): void;
  close(): void;
}

/** `reportsReceived`: it reports the last received number when it resumes; otherwise outcomes are sent again. */
export function createMovingClient(
  how: Partial<Opening> = {},
  name = 'client',
  reportsReceived = true,
): MovingClient {
  let requests = 0;
  const nextRequest = () => `${name}-${++requests}`;
  const outbox = createOutbox(LIMITS, nextRequest);
  const sessions: string[] = [];
  const received: string[] = [];
  const accepted = new Set<number>();
  const complaints: string[] = [];
  let sent: SessionOutput[] = [];
  let resume: Opening['resume'];
  let instance: RunningInstance | undefined;
  let link: SessionLink | undefined;
  let cutBy: MovingClient['cutBy'];
  let highestSeq = 0;
  /** By lane. */
  const lastIndex = new Map<string, number>();
  const outcomesOf = new Map<number, number>();
  const expected = how.speech?.targets === undefined ? 1 : partsOf(how.speech.targets).length;

  const given = (): Opening =>
    opening({
      ...how,
      resume: resume && { ...resume, receivedSeq: reportsReceived ? highestSeq : undefined },
    });

  function opened(sessionId: string, output: Extract<SessionOutput, { kind: 'opened' }>): void {
    if (sessions.at(-1) !== sessionId) {
      sessions.push(sessionId);
      highestSeq = 0;
      lastIndex.clear();
      outcomesOf.clear();
      accepted.clear();
      if (output.isResumed) complaints.push('another session is resumed than was asked for');
    }
    resume = { sessionId, token: output.resumeToken ?? resume?.token ?? '' };
    outbox.opened(output.isResumed, output.hasMoved);
  }

  function outcome({ delivered, isNumbered }: Extract<SessionOutput, { kind: 'outcome' }>): void {
    const { utterance, outcome: what, deliverySeq } = delivered;
    if (!accepted.has(utterance.index)) complaints.push(`outcome ${utterance.index} before it was accepted`);
    if (isNumbered && deliverySeq <= highestSeq) return;
    if (isNumbered && deliverySeq !== highestSeq + 1)
      complaints.push(`outcome ${deliverySeq} comes after ${highestSeq}`);
    const { index, lane = '', rendition } = utterance;
    const last = lastIndex.get(lane) ?? -1;
    if (index <= last) complaints.push(`utterance ${index} comes after ${last} ${lane}`);
    highestSeq = deliverySeq;
    lastIndex.set(lane, index);
    const about = rendition === undefined ? `${index}` : `${index} ${rendition.language}/${rendition.kind}`;
    received.push(what.kind === 'result' ? `${about}:${what.result.textAsr}` : `${about}!${what.reason}`);
    outcomesOf.set(index, (outcomesOf.get(index) ?? 0) + 1);
    if (outcomesOf.get(index) === expected) outbox.settled(index);
  }

  function hear(sessionId: string, output: SessionOutput): void {
    sent.push(output);
    if (output.kind === 'opened') opened(sessionId, output);
    else if (output.kind === 'outcome') outcome(output);
    else if (output.kind === 'accepted') {
      const { index: utteranceIndex, requestId, firstSeq, lastSeq } = output.utterance;
      accepted.add(utteranceIndex);
      outbox.accepted({ utteranceIndex, requestId, firstSeq, lastSeq });
    }
  }

  function createLink(): SessionLink {
    const own: SessionLink = {
      send: (sessionId, output) => {
        if (link === own) hear(sessionId, output);
      },
      replaced: () => cut('replaced'),
      abandoned: () => cut('abandoned'),
    };
    const cut = (by: 'replaced' | 'abandoned') => {
      if (link !== own) return;
      cutBy = by;
      link = undefined;
    };
    return own;
  }

  const send = (event: Parameters<RunningInstance['service']['receive']>[2]) =>
    link !== undefined &&
    instance?.isAlive === true &&
    instance.service.receive(resume?.sessionId ?? '', 'anybody', event);

  return {
    outbox,
    get sessionId() {
      return sessions.at(-1);
    },
    get resume() {
      return resume;
    },
    sessions,
    received,
    accepted,
    get sent() {
      return sent;
    },
    complaints,
    get isConnected() {
      return link !== undefined && instance?.isAlive === true;
    },
    get cutBy() {
      return cutBy;
    },
    async connect(to) {
      const own = createLink();
      [instance, link, sent, cutBy] = [to, own, [], undefined];
      const result = await to.service.open(given(), own);
      if (result.kind !== 'opened' && link === own) link = undefined;
      return result.kind;
    },
    say: (text) => void outbox.addChunk(Buffer.from(text)),
    end: () => void outbox.endUtterance(),
    utter: (text) => void outbox.addUtterance(nextRequest(), Buffer.from(text), {}),
    pump(most = Number.POSITIVE_INFINITY) {
      for (let left = most; left > 0; left -= 1) {
        if (link === undefined || instance?.isAlive !== true || !outbox.hasFrames()) return;
        const frame = outbox.take(0);
        if (frame === undefined) return;
        const audio = Buffer.from(frame.bytes);
        if (frame.kind === 'chunk') send({ ...frame, audio: audio.length === 0 ? undefined : audio });
        else {
          const source = { kind: 'held', bytes: audio.length } as const;
          const { requestId, utteranceIndex: index } = frame;
          send({ kind: 'utterance', index, isManualCut: true, speech: speech(), source, audio, requestId });
        }
      }
    },
    acknowledge() {
      if (highestSeq > 0) send({ kind: 'acknowledged', deliverySeq: highestSeq });
    },
    leave() {
      const left = link;
      link = undefined;
      if (left !== undefined && instance?.isAlive === true)
        instance.service.left(resume?.sessionId ?? '', left);
    },
    close: () => void send({ kind: 'close' }),
  };
}
