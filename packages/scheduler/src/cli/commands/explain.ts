/** The command `lingua explain`: which node a job would get now, and why not another. */
import { readFile } from 'node:fs/promises';
import type { ExplainReply } from '@lingua/protocol';
import { FEATURES } from '../../domain/features.ts';
import type { CommandIo } from '../command-io.ts';
import {
  CommandMisuse,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  type OperatorRequest,
  type OwnFlags,
  runOperatorCommand,
} from '../operator-command.ts';
import { type Column, printable, printTable } from '../print-table.ts';

const USAGE = `Usage: lingua explain --src LANG --tgt LANG[,LANG…] [options]
       lingua explain --body FILE [options]

Shows which node a job would get now, or why none: the pools in the order of search, how many nodes are rejected for which
reason, and every rejection of one node. For several languages also the graph of jobs that would serve them. Nothing is dispatched, reserved or kept.
Exits with 0, or with 1 if the scheduler did not answer or did not accept the job.

  --src LANG         source language, or auto
  --tgt LANG         target language, or several with commas between
  --text TEXT        the input is this text instead of audio
  --tts              the translation is spoken
  --tenant ID        tenant whose job it is
  --session ID       session it belongs to; without a tenant it decides which pool is preferred
  --require NAME     a service by its id or type that the node must have ready; may be repeated
  --feature NAME     a feature such as emotion_detection; may be repeated
  --node ID          show every rejection of this node
  --exclude ID       decide without this node
  --body FILE        the body of a dispatch as JSON; the options above override it
${OPERATOR_FLAGS_USAGE}`;

const EXPLAIN: OperatorCommand = {
  name: 'explain',
  usage: USAGE,
  own: ['src', 'tgt', 'text', 'tts', 'tenant', 'session', 'require', 'feature', 'node', 'exclude', 'body'],
  run: explain,
};

export const runExplain = (argv: readonly string[], io: CommandIo): Promise<number> =>
  runOperatorCommand(EXPLAIN, argv, io);

async function explain({ client, flags, words, isJson, io }: OperatorRequest): Promise<number> {
  if (words.length > 0) {
    throw new CommandMisuse(`"${words[0]}" is not expected here (--help lists the options)`);
  }
  const body = bodyOf(flags, await readBody(flags.body));
  const reply = await client.call<ExplainReply>('POST', '/v1/explain', {}, body);
  io.out(isJson ? JSON.stringify(reply, undefined, 2) : printExplanation(reply));
  return 0;
}

type Body = Readonly<Record<string, unknown>>;

async function readBody(file: string | undefined): Promise<Body> {
  if (file === undefined) return {};
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new CommandMisuse(`--body ${file} cannot be read${code}; give the path of a JSON file`);
  }
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  } catch {
    // Reported below: it is no JSON, or not the right JSON.
  }
  throw new CommandMisuse(`--body ${file} is no JSON object; it must be a body for POST /v1/dispatch/f2f`);
}

/** A short silence: inline audio requires nothing of a node, whereas a reference requires that it can fetch. */
const SILENCE = { audio: 'AAAAAAAAAAA=', audio_format: 'pcm16', sample_rate: 16_000 };

export function bodyOf(flags: OwnFlags, given: Body): object {
  const { src, text, tenant, session, require, feature, tts, node, exclude } = flags;
  const targets = flags.tgt?.split(',').filter((tag) => tag !== '');
  const tgt = targets?.[0];
  if ((src ?? given.src_lang) === undefined || (tgt ?? given.tgt_lang) === undefined) {
    throw new CommandMisuse(
      'give the languages with --src en --tgt zh, or the body of a dispatch with --body',
    );
  }
  const unknown = feature?.find((name) => !FEATURES.has(name));
  if (unknown !== undefined) {
    throw new CommandMisuse(`there is no feature "${unknown}"; there are ${[...FEATURES.keys()].join(', ')}`);
  }
  const hasAudio =
    given.audio !== undefined || given.audio_ref !== undefined || (text ?? given.text) !== undefined;
  return {
    session_id: 'explain',
    ...(hasAudio ? {} : SILENCE),
    ...given,
    ...(src !== undefined && { src_lang: src }),
    ...(tgt !== undefined && { tgt_lang: tgt }),
    ...(targets !== undefined && targets.length > 1 && { tgt_langs: targets }),
    ...(text !== undefined && { text }),
    ...(tenant !== undefined && { tenant_id: tenant }),
    ...(session !== undefined && { session_id: session }),
    ...(require !== undefined && { required_services: require }),
    ...(feature !== undefined && { features: Object.fromEntries(feature.map((name) => [name, true])) }),
    ...(tts === true && { options: { ...(given.options as object | undefined), require_tts: true } }),
    ...(node !== undefined && { node_id: node }),
    ...(exclude !== undefined && { exclude_node_id: exclude }),
  };
}

type Plan = NonNullable<ExplainReply['plan']>;
type Attempt = ExplainReply['pools'][number];
type Distance = NonNullable<ExplainReply['regions']>[number];
type Reason = ExplainReply['reasons'][number];

const POOLS: readonly Column<Attempt>[] = [
  { title: 'POOL', cell: (pool) => poolWord(pool.pool_id) },
  { title: 'NAME', cell: (pool) => pool.pool_name ?? '-' },
  { title: 'CANDIDATES', cell: (pool) => pool.candidates },
  { title: 'REASON', cell: (pool) => pool.reason },
];

const DISTANCES: readonly Column<Distance>[] = [
  { title: 'REGIONS', cell: ({ regions }) => (regions.length === 0 ? 'all others' : regions.join(', ')) },
  { title: 'ROUND TRIP', cell: ({ round_trip_ms }) => `${round_trip_ms} ms` },
  { title: 'CANDIDATES', cell: ({ candidates }) => candidates },
];

const REASONS: readonly Column<Reason>[] = [
  { title: 'REASON', cell: (reason) => reason.reason },
  { title: 'NODES', cell: (reason) => reason.count },
  { title: 'FOR EXAMPLE', cell: (reason) => (reason.sample_node_ids ?? ['-']).join(', ') },
];

export function printExplanation(reply: ExplainReply): string {
  const {
    total_nodes: total,
    eligible_nodes: eligible,
    reasons,
    pools,
    node,
    regions = [],
    residency,
  } = reply;
  const sections = [
    verdict(reply),
    requirements(reply),
    ...(pools.length === 0 ? [] : [`Pools, in the order of search:\n${printTable(POOLS, pools)}`]),
    ...(reply.confinement === undefined ? [] : [CONFINEMENTS[reply.confinement]]),
    ...(regions.length === 0 ? [] : [`Regions, in the order of search:\n${printTable(DISTANCES, regions)}`]),
    ...(residency === undefined
      ? []
      : [`Only nodes in ${residency.join(', ')} may get jobs of this tenant.`]),
    `Of ${count(total, 'node')} ${eligible} could take it now.`,
    ...(reasons.length === 0 ? [] : [printTable(REASONS, reasons)]),
    ...(node === undefined ? [] : [printNode(node)]),
    ...(reply.plan === undefined ? [] : [printPlan(reply.plan)]),
  ];
  return printable(sections.join('\n\n'), { keepsLines: true });
}

const CHAINS: readonly Column<Plan['chains'][number]>[] = [
  { title: 'JOB', cell: (chain) => chain.chain_id },
  { title: 'INPUT', cell: (chain) => chain.after ?? chain.input },
  { title: 'NOW', cell: (chain) => chain.outcome },
  { title: 'NODES', cell: (chain) => chain.eligible_nodes },
  { title: 'FOR EXAMPLE', cell: (chain) => chain.candidate_node_id ?? chain.refusal?.code ?? '-' },
];

const TARGETS: readonly Column<Plan['targets'][number]>[] = [
  { title: 'LANGUAGE', cell: (target) => target.tgt_lang },
  { title: 'TEXT FROM', cell: (target) => target.text_from ?? '-' },
  { title: 'VOICE FROM', cell: (target) => target.voice_from ?? '-' },
  { title: 'WHY', cell: (target) => target.why.join('; ') },
];

/** The decision above it is about one job; this is about all languages. */
function printPlan({ chains, targets, continued }: Plan): string {
  const jobs = `All languages together need ${count(chains.length, 'job')}:\n${printTable(CHAINS, chains)}`;
  if (continued) return `${jobs}\n\nThe rest is planned when the language is recognised.`;
  return `${jobs}\n\n${printTable(TARGETS, targets)}`;
}

function verdict({
  outcome,
  refusal,
  candidate_node_id: candidate,
  selected_pool: pool,
}: ExplainReply): string {
  const where = pool === undefined ? '' : pool === -1 ? ' in no pool' : ` in pool ${pool}`;
  if (outcome === 'dispatch') {
    return candidate === undefined
      ? `Would be dispatched now${where}.`
      : `Would be dispatched now${where}; ${candidate} is one that could be chosen.`;
  }
  const why = refusal === undefined ? '' : `: ${refusal.message} (${refusal.code})`;
  return outcome === 'wait' ? `Would wait${why}` : `Would be refused${why}`;
}

function requirements({ tenant_id: tenant, requirements: required }: ExplainReply): string {
  const { directions, types, services, features } = required;
  const parts = [
    directions.map(({ source, target }) => `${source} -> ${target}`).join(', '),
    `ready: ${[...types, ...services].join(', ')}`,
    ...(features.length === 0 ? [] : [`features: ${features.join(', ')}`]),
    ...(required.audio_by_reference ? ['can fetch audio'] : []),
  ];
  return `Required for tenant ${tenant}: ${parts.join('; ')}`;
}

function printNode({
  node_id: nodeId,
  known,
  candidate,
  pool_ids: poolIds,
  failed,
}: NonNullable<ExplainReply['node']>) {
  const where =
    poolIds.length === 0 ? '' : poolIds[0] === -1 ? ' (in no pool)' : ` (pool ${poolIds.join(', ')})`;
  if (!known) return `Node ${nodeId} is not registered; GET /api/v1/nodes lists those that are.`;
  if (candidate) return `Node ${nodeId}${where} could be chosen.`;
  const facts = failed.map(({ reason, fact }) => `  - ${fact}  [${reason}]`);
  return [`Node ${nodeId}${where} is not chosen:`, ...facts].join('\n');
}

const CONFINEMENTS: Readonly<Record<NonNullable<ExplainReply['confinement']>, string>> = {
  tenant_pool: 'The tenant is bound to this pool, and its jobs may not leave it (strict_pool_eligibility).',
  tenant_pool_not_eligible:
    'The tenant is bound to a pool that does not promise the services of this job, and its jobs may not leave it (strict_pool_eligibility).',
  no_fallback: 'Other pools are not searched (fallback_scan_all_pools = false).',
  no_eligible_pool:
    'No pool promises the services of this job, and it may not run elsewhere (strict_pool_eligibility).',
};

const poolWord = (poolId: number): string => (poolId === -1 ? 'none' : `${poolId}`);

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
