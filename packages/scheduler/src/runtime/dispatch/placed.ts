/**
 * `sent`: a node was sent the job. `no_node`: no node has it. `overtaken`: a report, a cancel or another instance decided about the
 * job meanwhile.
 */
export type PlacementResult = 'sent' | 'no_node' | 'overtaken';
