/** All nodes, a page at a time: first those this instance holds, in the order they came, then those of the others by their ids. */
import type { NodeView } from '@lingua/protocol';
import type { HttpServices } from './http-services.ts';
import { viewNode, viewSheet } from './node-view.ts';

type Services = Pick<HttpServices, 'registry' | 'elsewhere' | 'usedSlots'>;

/** Begins the cursor of a page of others' nodes; ids of nodes have none of it. */
const OTHERS = '@';

export function listNodes(
  { registry, elsewhere, usedSlots }: Services,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): { nodes: readonly NodeView[]; cursor?: string | undefined } {
  if (cursor?.startsWith(OTHERS) === true) return othersAfter(cursor.slice(1), limit);
  const own = registry.list(cursor === undefined ? { limit } : { limit, cursor });
  const nodes = own.nodes.map((node) => viewNode(node, usedSlots?.(node.view.nodeId)));
  const isLast = own.cursor === undefined && elsewhere !== undefined;
  return { nodes, cursor: isLast && elsewhere.page(undefined, 1).length > 0 ? OTHERS : own.cursor };

  function othersAfter(after: string, most: number) {
    const sheets = elsewhere?.page(after === '' ? undefined : after, most) ?? [];
    const last = sheets.length === most ? sheets.at(-1) : undefined;
    return {
      nodes: sheets.map((sheet) => viewSheet(sheet, usedSlots?.(sheet.nodeId))),
      ...(last !== undefined && { cursor: OTHERS + last.nodeId }),
    };
  }
}
