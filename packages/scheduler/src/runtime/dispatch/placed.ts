/** Vocabulary: what came of placing a job. `sent`: it left for a node. `overtaken`: something else settled or answered it meanwhile. */
export type PlacementResult = 'sent' | 'no_node' | 'overtaken';
