/** All nodes as blocks filled by their slots, on one canvas: ten thousand elements would make the page slow. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type FleetNode, healthOf } from '../data/fleet.ts';
import { fleetVersion } from '../data/live-feed.ts';
import { paletteVersion } from '../shell/preferences.ts';
import { linkTo } from '../shell/router.ts';
import { count } from '../show/format.ts';
import { t, tOr } from '../texts/text.ts';
import { type Block, blockAt, type FleetLayout, type Grouping, layOut, shorten } from './fleet-layout.ts';

const LABELLED_SIZE = 56;
const NAME_SIZE = 92;

type Palette = (name: string) => string;

function readPalette(): Palette {
  const styles = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return (name) => {
    const colour = known.get(name) ?? styles.getPropertyValue(`--${name}`).trim();
    known.set(name, colour);
    return colour;
  };
}

function drawBlock(
  pen: CanvasRenderingContext2D,
  { node, x, y }: Block,
  size: number,
  colour: Palette,
): void {
  const health = healthOf(node);
  pen.fillStyle = colour(`node-${health}-back`);
  pen.beginPath();
  pen.roundRect(x, y, size, size, Math.min(6, size / 5));
  pen.fill();
  const share = node.slots === 0 ? 0 : Math.min(1, node.used / node.slots);
  if (share > 0) {
    const high = Math.max(2, size * share);
    pen.save();
    pen.clip();
    pen.fillStyle = colour(`node-${health}`);
    pen.fillRect(x, y + size - high, size, high);
    pen.restore();
  }
  if (health !== 'ready' && health !== 'full') {
    pen.strokeStyle = colour(`node-${health}`);
    pen.lineWidth = size > 30 ? 2 : 1.5;
    pen.stroke();
  }
  if (size < LABELLED_SIZE) return;
  pen.fillStyle = colour('text');
  pen.font = '600 12px system-ui, sans-serif';
  pen.fillText(`${node.used}/${node.slots}`, x + 7, y + 18, size - 12);
  if (size < NAME_SIZE) return;
  pen.font = '11px system-ui, sans-serif';
  const name = shorten(node.id, (text) => pen.measureText(text).width <= size - 14);
  pen.fillText(name, x + 7, y + size - 9);
  pen.fillText(tOr(`state.${health}`, health), x + 7, y + 34, size - 12);
}

function draw(
  canvas: HTMLCanvasElement,
  layout: FleetLayout,
  width: number,
  pointed: Block | undefined,
): void {
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  const ratio = devicePixelRatio;
  const [high, wide] = [Math.round(layout.height * ratio), Math.round(width * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.height = `${layout.height}px`;
  }
  const colour = readPalette();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, layout.height);
  for (const { name, nodes, used, slots, y } of layout.headings) {
    pen.fillStyle = colour('text');
    pen.font = '600 13px system-ui, sans-serif';
    const shown = tOr(`state.${name}`, name === '' ? t('fleet.no_group') : name);
    pen.fillText(shown, 0, y + 18);
    const offset = pen.measureText(shown).width + 12;
    pen.fillStyle = colour('quiet');
    pen.font = '12px system-ui, sans-serif';
    pen.fillText(
      t('fleet.group', { nodes: count(nodes), used: count(used), slots: count(slots) }),
      offset,
      y + 18,
    );
  }
  for (const block of layout.blocks) drawBlock(pen, block, layout.size, colour);
  if (pointed === undefined) return;
  pen.strokeStyle = colour('text');
  pen.lineWidth = 2;
  pen.strokeRect(pointed.x - 1, pointed.y - 1, layout.size + 2, layout.size + 2);
}

export function FleetCanvas({ nodes, grouping }: { nodes: readonly FleetNode[]; grouping: Grouping }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = useRef<FleetLayout | undefined>(undefined);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<Block>();
  const versions = `${fleetVersion.value} ${paletteVersion.value}`;

  useEffect(() => {
    const box = canvas.current?.parentElement;
    if (box === null || box === undefined) return;
    const watcher = new ResizeObserver(() => setWidth(box.clientWidth));
    watcher.observe(box);
    return () => watcher.disconnect();
  }, []);

  // Nodes change in place; the versions say when.
  useEffect(() => {
    if (width === 0) return;
    layout.current = layOut(nodes, grouping, width);
    const frame = requestAnimationFrame(() => {
      if (canvas.current !== null && layout.current !== undefined)
        draw(canvas.current, layout.current, width, pointed);
    });
    return () => cancelAnimationFrame(frame);
  }, [nodes, grouping, width, versions, pointed]);

  const find = (event: MouseEvent): Block | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || layout.current === undefined) return undefined;
    return blockAt(layout.current, event.clientX - box.left, event.clientY - box.top);
  };

  return (
    <div class="fleet-canvas">
      <canvas
        ref={canvas}
        role="img"
        aria-label={t('fleet.canvas', { nodes: count(nodes.length) })}
        class={pointed === undefined ? '' : 'pointing'}
        onMouseMove={(event) => {
          const found = find(event);
          if (found?.node !== pointed?.node) setPointed(found);
        }}
        onMouseLeave={() => setPointed(undefined)}
        onClick={(event) => {
          const found = find(event);
          if (found !== undefined) location.href = linkTo('node', found.node.id);
        }}
      />
      {pointed !== undefined && <Tip block={pointed} size={layout.current?.size ?? 0} width={width} />}
    </div>
  );
}

function Tip({ block: { node, x, y }, size, width }: { block: Block; size: number; width: number }) {
  const isRight = x > width - 240;
  return (
    <div
      class="tip"
      style={{
        top: `${y + size + 6}px`,
        ...(isRight ? { right: `${width - x - size}px` } : { left: `${x}px` }),
      }}
    >
      <strong>{node.id}</strong>
      <span>
        {tOr(`state.${healthOf(node)}`, node.status)} ·{' '}
        {t('fleet.slots', { used: node.used, slots: node.slots })}
      </span>
      {node.orderReason !== '' && <span>{node.orderReason}</span>}
      <span class="quiet">
        {[node.region, node.zone, node.version, node.pools.join(', ')]
          .filter((part) => part !== '')
          .join(' · ')}
      </span>
    </div>
  );
}
