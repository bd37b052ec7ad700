/** A model on a node's disk. */
import { type Static, Type } from 'typebox';
import { anyOf, flag, label, optional } from './bounded.ts';

export const InstalledModel = Type.Object(
  {
    model_id: label('Name of the model'),
    kind: anyOf(['asr', 'nmt', 'tts', 'vad', 'emotion', 'other'], 'Task of the model'),
    src_lang: optional(label('Source language')),
    tgt_lang: optional(label('Target language')),
    dialect: optional(label('Dialect')),
    version: label('Version of the model'),
    enabled: optional(flag('False if it is installed but disabled')),
  },
  { title: 'InstalledModel', description: 'A model on the node' },
);
export type InstalledModel = Static<typeof InstalledModel>;
