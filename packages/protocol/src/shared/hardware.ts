/** The hardware of a node. */
import { type Static, Type } from 'typebox';
import { label, list, optional, quantity } from './bounded.ts';

export const Hardware = Type.Object(
  {
    cpu_cores: quantity('Number of CPU cores'),
    memory_gb: quantity('Main memory in GB'),
    gpus: optional(
      list(
        Type.Object({ name: label('Name of the GPU'), memory_gb: quantity('GPU memory in GB') }),
        64,
        'GPUs; absent or empty on a CPU node',
      ),
    ),
  },
  { title: 'Hardware', description: 'Hardware of the node' },
);
export type Hardware = Static<typeof Hardware>;
