/** Settings of pools: which nodes may serve which tenants and needs. */
import { list, optional, record, required, tables } from '../compound-setting.ts';
import { boolean, choice, group, ignored, integer, text } from '../setting.ts';
import { regionList } from './regions.ts';

const MAX_POOL_ID = 65_535;

const tag = text({
  default: '',
  pattern: /^[A-Za-z0-9-]{1,35}$/,
  allowed: 'a language tag like "en"',
  doc: '',
});
const languages = (doc: string) => optional(list({ of: tag, default: [], doc }));
const pairs = (doc: string) =>
  optional(
    tables({
      columns: { src: required({ ...tag, doc: 'Source.' }), tgt: required({ ...tag, doc: 'Target.' }) },
      doc,
    }),
  );

const poolId = integer({ default: 0, min: 0, max: MAX_POOL_ID, doc: 'Number of the pool.' });

const languageRequirements = record({
  doc: 'Languages that a node of the pool must have.',
  columns: {
    asr_languages: languages('Recognised languages.'),
    tts_languages: languages('Spoken languages.'),
    semantic_languages: languages('Languages of semantic repair.'),
    nmt_requirements: optional(
      record({
        doc: 'Translated pairs.',
        columns: {
          languages: languages('Languages the rule is about.'),
          rule: required(
            choice({
              choices: ['any_to_any', 'any_to_en', 'en_to_any', 'specific_pairs'],
              default: 'any_to_any',
              doc: 'Which pairs of them.',
            }),
          ),
          supported_pairs: pairs('The pairs of the rule specific_pairs.'),
          blocked_pairs: pairs('Pairs that are left out.'),
        },
      }),
    ),
  },
});

const noAutoPools = 'Pools by language pair are derived from the nodes themselves.';

export const pools = group('Pools: a pool is chosen first, then a node in it.', {
  enabled: boolean({ default: false, doc: 'Divides the nodes into pools.' }),
  mode: choice({ choices: ['two_level'], default: 'two_level', doc: 'How a node is found.' }),
  pool_count: integer({
    default: 16,
    min: 1,
    max: 1_024,
    doc: 'Pools by hash, when none are listed in `pools`.',
  }),
  hash_seed: integer({
    default: 0,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'Seed of the hash that assigns nodes to pools.',
  }),
  fallback_scan_all_pools: boolean({
    default: true,
    doc: 'Tries the other pools when the preferred one has no node. Never leaves a strict pool.',
  }),
  pool_match_scope: choice({
    choices: ['core_only', 'all_required'],
    default: 'core_only',
    doc: 'Whether a pool must have the core services of a job or all its services.',
  }),
  pool_match_mode: choice({
    choices: ['contains', 'exact'],
    default: 'contains',
    doc: 'Whether a pool may have more services than the job needs.',
  }),
  strict_pool_eligibility: boolean({
    default: false,
    doc: 'A job never leaves the pool its tenant is bound to, and one for which no pool is eligible fails instead of running elsewhere.',
  }),
  pools: tables({
    doc: 'Pools by capability. A node belongs to a pool when it has all its services.',
    example: ['pool_id = 1', 'name = "european"', 'required_services = ["nmt-m2m100"]'],
    maxItems: 1_024,
    columns: {
      pool_id: required(poolId),
      name: text({ default: '', doc: 'Name for people.' }),
      required_services: list({
        of: text({
          default: '',
          pattern: /^[A-Za-z0-9._:@/-]{1,128}$/,
          allowed: 'a service id of at most 128 characters',
          doc: '',
        }),
        default: [],
        doc: 'What a node of the pool has installed: service ids, service types (asr, nmt, tts, tone, semantic) or features. Empty: takes the nodes that fit no other pool.',
      }),
      language_requirements: optional(languageRequirements),
      regions: regionList('Regions whose nodes the pool takes. Empty: all.'),
      dedicated: boolean({
        default: false,
        doc: 'Only for jobs of tenants that are bound to the pool. Otherwise jobs of tenants without a pool may use it, too.',
      }),
    },
  }),
  tenant_overrides: tables({
    doc: 'Tenants that are bound to a pool.',
    example: ['tenant_id = "acme"', 'pool_id = 1'],
    columns: {
      tenant_id: required(
        text({
          default: '',
          pattern: /^[A-Za-z0-9._:-]{1,128}$/,
          allowed: '1 to 128 letters, digits, or . _ : -',
          doc: 'The tenant.',
        }),
      ),
      pool_id: required(poolId),
    },
  }),
  auto_generate_language_pools: ignored(noAutoPools),
  auto_pool_config: group('Keys of earlier configuration files.', {
    min_nodes_per_pool: ignored(noAutoPools),
    max_pools: ignored(noAutoPools),
    pool_naming: ignored(noAutoPools),
    require_semantic: ignored(noAutoPools),
    enable_mixed_pools: ignored(noAutoPools),
  }),
  enable_session_affinity: ignored('A session may prefer a pool, never a node.'),
});
