/** Nodes that perform single stages: one recognises, one translates, one speaks. Audio is its own text, so that results can be foretold. */
import type { GpuNode, JobAssign, JobContext, NodeOptions } from '@lingua/sdk/node';
import { NODE_EXTENSIONS } from '@lingua/sdk/node';
import { joinSdkNode } from './sdk-node.ts';

const NONE = { asr_languages: [], semantic_languages: [], tts_languages: [] };

const nmt = (pairs: readonly string[]) => [
  {
    model_id: 'm',
    languages: [],
    rule: 'specific_pairs' as const,
    supported_pairs: pairs.map((pair) => ({ src: pair.split('>')[0] ?? '', tgt: pair.split('>')[1] ?? '' })),
  },
];

export type StageNodeKind = 'recogniser' | 'translator' | 'speaker' | 'whole';

const TYPES: Readonly<Record<StageNodeKind, readonly string[]>> = {
  recogniser: ['asr', 'semantic'],
  translator: ['nmt'],
  speaker: ['tts'],
  whole: ['asr', 'semantic', 'nmt', 'tts'],
};

export const PAIRS = ['en>es', 'en>fr', 'es>pt'];

export function capabilitiesOf(
  kind: StageNodeKind,
  pairs: readonly string[] = PAIRS,
): NodeOptions['capabilities'] {
  const does = (type: string) => TYPES[kind].includes(type);
  return {
    capability_by_type: TYPES[kind].map((type) => ({ type, ready: true })),
    language_capabilities: {
      ...NONE,
      ...(does('asr') && { asr_languages: ['en'], semantic_languages: ['en'] }),
      ...(does('tts') && { tts_languages: ['en', 'es', 'fr', 'pt'] }),
      ...(does('nmt') && { nmt_capabilities: nmt(pairs) }),
    },
  } as NodeOptions['capabilities'];
}

export const speech = (text: string): string => Buffer.from(text).toString('base64');

/** What such a node answers: the stages of the job, one after the other. */
export async function perform(job: JobAssign, { audio }: Pick<JobContext, 'audio'>) {
  const { pipeline, input_text: given, src_lang, tgt_lang } = job;
  const source = given ?? (await audio()).toString();
  const translated = pipeline.use_nmt ? `${source}>${tgt_lang}` : source;
  return {
    text_asr: pipeline.use_nmt || pipeline.use_tts ? (given === undefined ? source : '') : source,
    text_translated: pipeline.use_nmt ? translated : '',
    ...(pipeline.use_tts && { tts_audio: speech(`${translated} ${tgt_lang}`), tts_format: 'pcm16' }),
    ...(src_lang === 'auto' && { detected_language: 'en' }),
  };
}

export interface StageNode {
  readonly node: GpuNode;
  readonly jobs: readonly JobAssign[];
}

export async function joinStageNode(
  url: string,
  kind: StageNodeKind,
  options: {
    readonly nodeId?: string;
    readonly pairs?: readonly string[];
    readonly maxConcurrentJobs?: number;
    readonly supports?: NodeOptions['supports'];
    readonly onJob?: NodeOptions['onJob'];
  } = {},
): Promise<StageNode> {
  const jobs: JobAssign[] = [];
  const node = await joinSdkNode({
    url,
    nodeId: options.nodeId ?? `node-${kind}`,
    capabilities: capabilitiesOf(kind, options.pairs),
    supports: [...NODE_EXTENSIONS, 'text_input', ...(options.supports ?? [])],
    ...(options.maxConcurrentJobs !== undefined && { maxConcurrentJobs: options.maxConcurrentJobs }),
    onJob(job, context) {
      jobs.push(job);
      return (options.onJob ?? perform)(job, context);
    },
  });
  return { node, jobs };
}
