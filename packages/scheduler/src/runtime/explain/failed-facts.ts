/**
 * Cold path: all reasons against one node for one need, as text. Reads the node itself and not the bitmaps, so that the text can
 * say what the node has instead; a test compares the two.
 */

import { hasBit } from '../../domain/bits.ts';
import { FEATURES } from '../../domain/features.ts';
import type { NodeId } from '../../domain/ids.ts';
import { ANY, includesLanguage, type LanguageSet } from '../../domain/language.ts';
import { type Need, type NeededDirection, REJECTIONS, type Rejection } from '../../domain/need.ts';
import type { NodeView } from '../../domain/node.ts';
import { UNPOOLED } from '../../domain/pool.ts';
import { type NmtAbility, type NodeProfile, translates } from '../../domain/profile.ts';
import { poolName } from '../pools/describe-confinement.ts';
import { inOrder, leadsTo } from '../pools/pool-map.ts';
import { isClosedTo, requiredTypes } from '../select/clauses.ts';
import { type CompiledNeed, residencyOf, routeOf } from '../select/compile-need.ts';

export interface FailedFact {
  readonly reason: Rejection;
  /** Text for the operator. */
  readonly fact: string;
}

/** In the order of REJECTIONS. Undefined: the node is unknown. */
export function failedFacts(
  compiled: CompiledNeed,
  nodeId: NodeId,
  excluded: ReadonlySet<NodeId>,
  now: number,
): readonly FailedFact[] | undefined {
  const { fleet, need } = compiled;
  const view = fleet.view(nodeId);
  if (view === undefined) return undefined;
  const failed: FailedFact[] = [];
  const fail = (reason: Rejection, fact: string): void => void failed.push({ reason, fact });
  checkLanguages(need, view.profile, fail);
  checkServices(need, view, fail);
  checkResidency(compiled, view, fail);
  checkPool(compiled, view, fail);
  checkState(view, now - (fleet.table.columns.beatAt[fleet.table.indexOf(nodeId)] ?? now), fail);
  const load = fleet.load(nodeId);
  if (hasBit(fleet.table.columns.paused, fleet.table.indexOf(nodeId)))
    fail('capacity_exceeded', 'no free slot: it has just rejected a job as overloaded');
  else if (load !== undefined && load.used >= load.max) {
    fail('capacity_exceeded', `no free slot: ${load.used} of ${load.max} used`);
  }
  if (excluded.has(nodeId)) fail('excluded', 'excluded from this job');
  return failed.sort((a, b) => REJECTIONS.indexOf(a.reason) - REJECTIONS.indexOf(b.reason));
}

type Fail = (reason: Rejection, fact: string) => void;

function checkLanguages(need: Need, profile: NodeProfile, fail: Fail): void {
  // If the client sent `auto`, that is the reason for every stage.
  const because = (reason: Rejection): Rejection => (need.isSourceAuto ? 'src_auto_no_candidate' : reason);
  const checkLanguage = (stage: 'asr' | 'semantic' | 'tts', language: string, reason: Rejection): void => {
    if (!includesLanguage(profile[stage], language)) {
      fail(because(reason), `${stage} does not have "${language}" (it has ${listed(profile[stage])})`);
    }
  };
  for (const direction of need.directions) {
    const { source, target } = direction;
    if (need.usesAsr && source !== ANY) checkLanguage('asr', source, 'asr_lang_unsupported');
    if (!need.skipsSemantic && source !== ANY) checkLanguage('semantic', source, 'semantic_lang_unsupported');
    if (need.usesNmt && !canTranslate(profile.nmt, direction)) {
      fail(because('lang_pair_unsupported'), `nmt does not translate ${arrow(direction)}${instead(profile)}`);
    }
    if (need.usesTts) checkLanguage('tts', target, 'tts_lang_unsupported');
  }
  if (need.isPairUnknown && profile.isLegacy) {
    fail('src_auto_no_candidate', 'a legacy node takes source "auto" only with lang_a and lang_b');
  }
}

function checkServices(need: Need, view: NodeView, fail: Fail): void {
  const { profile } = view;
  for (const type of requiredTypes(need)) {
    if (!includesLanguage(profile.installedTypes, type)) {
      fail(
        'service_not_installed',
        `service type "${type}" is not installed (installed: ${listed(profile.installedTypes)})`,
      );
    }
    if (!includesLanguage(profile.readyTypes, type)) {
      fail('model_not_available', `service type "${type}" is not ready`);
    }
    if (view.markedTypes.includes(type)) {
      fail('model_not_available', `every service of type "${type}" is marked unavailable`);
    }
  }
  for (const service of need.services) {
    if (!profile.installedServices.includes(service)) {
      fail(
        'service_not_installed',
        `service "${service}" is not installed (installed: ${listed(profile.installedServices)})`,
      );
    }
    if (!profile.readyServices.includes(service)) {
      fail('model_not_available', `service "${service}" is not ready`);
    }
    if (view.markedServices.includes(service)) {
      fail('model_not_available', `service "${service}" is marked unavailable`);
    }
  }
  for (const feature of need.features ?? []) {
    const providers = FEATURES.get(feature)?.providers ?? [];
    if (!profile.features.includes(feature)) {
      fail(
        'feature_unsupported',
        `feature "${feature}" is not offered (${listed(providers)} would provide it)`,
      );
    }
    for (const service of providers) {
      if (view.markedServices.includes(service)) {
        fail('model_not_available', `"${service}", which provides ${feature}, is marked unavailable`);
      }
    }
  }
  if (need.isAudioByReference && !profile.supports.includes('audio_ref')) {
    fail('audio_ref_unsupported', 'does not fetch audio by reference (supports no audio_ref)');
  }
  if (need.isTextInput && !profile.supports.includes('text_input')) {
    fail('text_input_unsupported', 'takes no text as input (supports no text_input)');
  }
  if (need.isInterim && !profile.supports.includes('interim')) {
    fail('interim_unsupported', 'takes no jobs on speech before its end (supports no interim)');
  }
  if (need.isPartial && profile.isLegacy) {
    fail('whole_jobs_only', 'a legacy node takes only whole jobs with audio');
  }
  if (isClosedTo(need, profile)) {
    fail('not_in_public_pool', `takes only jobs of tenant "${profile.privateTo}"`);
  }
}

function checkResidency({ fleet, need }: CompiledNeed, { region }: NodeView, fail: Fail): void {
  const residency = residencyOf(fleet, need);
  if (residency === undefined || (region !== undefined && residency.includes(region))) return;
  const place = region === undefined ? 'names no region' : `is in region "${region}"`;
  fail('outside_residency', `${place}; tenant "${need.tenantId}" allows only ${listed(residency)}`);
}

function checkPool(compiled: CompiledNeed, view: NodeView, fail: Fail): void {
  const { fleet } = compiled;
  const { pools, indexOf } = fleet.table;
  const route = routeOf(compiled);
  const plan = compiled.poolMap?.plan;
  if (route === undefined || pools === undefined || plan === undefined) return;
  const homes = pools.of(indexOf(view.nodeId));
  if (homes.some((poolId) => leadsTo(route, poolId))) return;
  const home = listed(homes.map((id) => poolName(plan, id)));
  const allowed = inOrder(route).map((id) => (id === UNPOOLED ? 'nodes in no pool' : poolName(plan, id)));
  fail('not_in_pool', `is in ${home}; the job may use ${listed(allowed)}`);
}

function checkState(view: NodeView, silentMs: number, fail: Fail): void {
  if (!view.isConnected) fail('disconnected', 'its connection is lost');
  if (view.health === 'offline') fail('offline', 'is offline');
  if (view.health !== 'ready') fail('status_not_ready', `health is ${view.health}`);
  if (!view.isFresh) {
    fail(
      'stale_heartbeat',
      `heartbeat is stale: last one ${Math.max(0, Math.round(silentMs / 1_000))} s ago`,
    );
  }
  if (view.isCordoned) fail('cordoned', 'is cordoned by an operator');
  if (view.isEjected) fail('ejected', 'is ejected for failing too often');
  if (!view.isCalm) fail('resource_threshold_exceeded', 'cpu, gpu or memory is above its threshold');
}

const arrow = ({ source, target }: NeededDirection): string => `${source} -> ${target}`;

function instead({ nmt }: NodeProfile): string {
  const pairs = nmt.pairs.map((pair) => `${pair.source} -> ${pair.target}`);
  const blocked = nmt.blocked.map((pair) => `${pair.source} -> ${pair.target}`);
  const product = `from ${listed(nmt.sources)} to ${listed(nmt.targets)}`;
  const parts = [
    product,
    ...(blocked.length === 0 ? [] : [`less ${listed(blocked)}`]),
    ...(pairs.length === 0 ? [] : [`and ${listed(pairs)}`]),
  ];
  return ` (it translates ${parts.join(', ')})`;
}

/** A node may have hundreds: a few show what kind of node it is. */
const SHOWN = 8;

function listed(names: LanguageSet | readonly string[]): string {
  if (names === ANY) return 'any';
  if (names.length === 0) return 'none';
  const more = names.length - SHOWN;
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Also from an unknown source language. */
function canTranslate(nmt: NmtAbility, { source, target }: NeededDirection): boolean {
  if (source !== ANY) return translates(nmt, source, target);
  if (nmt.pairs.some((pair) => pair.target === target)) return true;
  // If every language is a source, a finite list of blocked pairs cannot exclude all of them.
  if (nmt.sources === ANY) return nmt.targets === ANY || nmt.targets.includes(target);
  return nmt.sources.some((one) => translates(nmt, one, target));
}
