/** What one recorded decoding run holds (`tfkit_lab/trace.schema.json`), and the pure questions the views ask of it. */

export interface INode {
  id: number;
  parent: number;
  step: number;
  token: string;
  token_id: number;
  logp: number;
  score: number;
  state: 'live' | 'dropped' | 'finished';
}

export type Candidate = [string, number, number]; // token, id, probability

export interface IStep {
  live: number[];
  chosen: number[];
  finished: number[];
  topk: Record<string, Candidate[]>;
  entropy: Record<string, number>;
}

export interface IAttention {
  layers: number;
  heads: number;
  rows: number;
  cols: number;
  triangle: boolean;
  data: string;
}

export interface ITrace {
  schema: string;
  kind: string;
  strategy: string;
  title: string;
  settings?: Record<string, unknown>;
  source: string[] | null;
  prompt: string[];
  nodes: INode[];
  steps: IStep[];
  best: number;
  path: number[];
  attention?: { self?: IAttention; cross?: IAttention };
}

export const SCHEMA = 'tfkit.trace/1';

export const clamp = (x: number, low: number, high: number): number => Math.max(low, Math.min(high, x));

const isList = (x: unknown): x is unknown[] => Array.isArray(x);

function nodeProblem(node: Partial<INode>, place: number): string | null {
  if (node.id !== place) {
    return `nodes[${place}].id must be ${place}`;
  }
  if (typeof node.parent !== 'number' || node.parent >= place || node.parent < -1) {
    return `nodes[${place}].parent must be an earlier node or -1`;
  }
  return typeof node.token === 'string' ? null : `nodes[${place}].token must be a string`;
}

function stepProblem(step: Partial<IStep>, place: number, count: number): string | null {
  for (const key of ['live', 'chosen', 'finished'] as const) {
    const ids = step[key];
    if (!isList(ids) || ids.some(id => !(id >= 0 && id < count))) {
      return `steps[${place}].${key} must list node ids`;
    }
  }
  return step.topk && step.entropy ? null : `steps[${place}] needs topk and entropy`;
}

/** The first thing wrong with a trace in words, or null. The schema is stricter; this keeps the views from failing. */
export function problem(value: unknown): string | null {
  const trace = value as Partial<ITrace> | null;
  if (!trace || typeof trace !== 'object') {
    return 'there is no trace';
  }
  if (trace.schema !== SCHEMA) {
    return `schema is ${JSON.stringify(trace.schema)}, this view reads ${SCHEMA}`;
  }
  if (!isList(trace.nodes) || !isList(trace.steps) || !isList(trace.prompt) || !isList(trace.path)) {
    return 'prompt, nodes, steps and path must be lists';
  }
  if (!trace.nodes.length) {
    return 'a trace needs at least its root node';
  }
  const nodes = trace.nodes;
  if (trace.path.some(id => !nodes[id])) {
    return 'path must list node ids';
  }
  const said = nodes.map(nodeProblem).find(Boolean);
  return said ?? trace.steps.map((s, i) => stepProblem(s, i, nodes.length)).find(Boolean) ?? null;
}

/** Node ids from the root to `id`. */
export function ancestry(trace: ITrace, id: number): number[] {
  const up: number[] = [];
  for (let at = id; at >= 0; at = trace.nodes[at].parent) {
    up.push(at);
  }
  return up.reverse();
}

/** The hypothesis a step is told about: the wanted one if it lives, else the best path's, else the first. */
export function focus(trace: ITrace, step: number, wanted = -1): number {
  const live = trace.steps[step]?.live ?? [];
  if (live.includes(wanted)) {
    return wanted;
  }
  return live.find(id => trace.path.includes(id)) ?? live[0] ?? 0;
}

/** The node that a step made of `parent`: on the best path if there is one, else the first chosen. */
export function chosenFrom(trace: ITrace, step: number, parent: number): INode | null {
  const now = trace.steps[step];
  if (!now) {
    return null;
  }
  const mine = [...now.chosen, ...now.finished].filter(id => trace.nodes[id].parent === parent);
  const id = mine.find(child => trace.path.includes(child)) ?? mine[0];
  return id === undefined ? null : trace.nodes[id];
}

/** The tokens the decoder has read before a step: the prompt, then what was chosen (the root is the prompt's end). */
export function tokensSoFar(trace: ITrace, node: number): string[] {
  const chain = ancestry(trace, node).map(id => trace.nodes[id].token);
  return trace.prompt.length ? [...trace.prompt, ...chain.slice(1)] : chain;
}

/** Labels of the decoder's positions along the best path, which are attention's rows. */
export function rowLabels(trace: ITrace): string[] {
  return tokensSoFar(trace, trace.path[trace.path.length - 1] ?? 0);
}

/** The decoder position whose query foretells the token of a step. */
export function queryRow(trace: ITrace, step: number): number {
  return Math.max(1, trace.prompt.length) - 1 + step;
}

export async function inflate(base64: string): Promise<Uint8Array> {
  const raw = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** How many bytes a map inflates to; a difference means a damaged trace. */
export function mapBytes(m: IAttention): number {
  return m.layers * m.heads * (m.triangle ? (m.rows * (m.rows + 1)) / 2 : m.rows * m.cols);
}

/** Reads one head's map without copying: `at(row, column)` is a probability. */
export function headMap(m: IAttention, bytes: Uint8Array, layer: number, head: number): (r: number, c: number) => number {
  const size = mapBytes(m) / (m.layers * m.heads);
  const start = (layer * m.heads + head) * size;
  if (m.triangle) {
    return (r, c) => (c > r ? 0 : bytes[start + (r * (r + 1)) / 2 + c] / 255);
  }
  return (r, c) => bytes[start + r * m.cols + c] / 255;
}

export interface IPlaced {
  node: INode;
  x: number; // column, in steps
  y: number; // row
}

/** Nodes of the tree to draw at a step: recent columns only, as many as fit the budget, nothing of the future. */
export function visibleNodes(trace: ITrace, step: number, budget = 160): INode[] {
  const past = trace.nodes.filter(n => n.step <= step + 1);
  for (let from = 0; ; from++) {
    const shown = past.filter(n => n.step >= from);
    if (shown.length <= budget || from >= step) {
      return shown;
    }
  }
}

/** A tidy tree: leaves on rows of their own, a parent in the middle of its children. */
export function layout(nodes: INode[]): IPlaced[] {
  const ids = new Set(nodes.map(n => n.id));
  const children = new Map<number, INode[]>();
  for (const n of nodes) {
    const parent = ids.has(n.parent) ? n.parent : -1;
    children.set(parent, [...(children.get(parent) ?? []), n]);
  }
  const left = Math.min(...nodes.map(n => n.step));
  const placed: IPlaced[] = [];
  let row = 0;
  const place = (node: INode): number => {
    const kids = (children.get(node.id) ?? []).map(place);
    const y = kids.length ? (kids[0] + kids[kids.length - 1]) / 2 : row++;
    placed.push({ node, x: node.step - left, y });
    return y;
  };
  (children.get(-1) ?? []).forEach(place);
  return placed;
}
