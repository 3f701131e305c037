/** The type of a recorded decoding run (`tfkit_lab/schemas/decoding.json`), and pure functions that the views read it with. */
import type { IDecoding, IMaps, INode, IPooled } from '../generated/decoding';
import { validate } from '../generated/decoding.valid';
import { schemaProblem } from '../schemas/errors';
import { translated } from './words';

export type { ICache, IDraft, IDraftToken, INode, IStage, IStep } from '../generated/decoding';
export type { ICandidate as Candidate } from '../generated/decoding';
export type ITrace = IDecoding;
export type IAttention = IMaps;
export type IPooling = IPooled;

export const clamp = (x: number, low: number, high: number): number => Math.max(low, Math.min(high, x));

/** The first thing wrong with a trace in words, or null: by the schema, then as a tree. */
export function problem(value: unknown): string | null {
  if (!value) {
    return 'there is no trace';
  }
  const trace = value as ITrace;
  return schemaProblem(validate, trace) ?? treeProblem(trace);
}

/** The trace with the draft tokens under their name: recordings made before it was chosen call them `guesses`. */
export function withDraftTokens(value: unknown): unknown {
  const steps = (value as { steps?: unknown } | null | undefined)?.steps;
  if (!Array.isArray(steps) || !steps.some(isOldDraft)) {
    return value;
  }
  const renamed = steps.map((step: unknown) => {
    if (!isOldDraft(step)) {
      return step;
    }
    const { guesses, ...draft } = step.draft;
    return { ...step, draft: { ...draft, draft_tokens: guesses } };
  });
  return { ...(value as object), steps: renamed };
}

function isOldDraft(step: unknown): step is { draft: { guesses: unknown } } {
  const draft = (step as { draft?: unknown } | null)?.draft;
  return typeof draft === 'object' && draft !== null && 'guesses' in draft;
}

function treeProblem({ nodes, steps, path, best, prompt }: ITrace): string | null {
  const misplaced = nodes.findIndex((node, place) => node.id !== place || node.parent >= place);
  if (misplaced >= 0) {
    return `nodes[${misplaced}] must have id ${misplaced} and an earlier parent`;
  }
  const outside = nodes.find(({ place }) => place !== undefined && place >= prompt.length);
  if (outside) {
    return `nodes[${outside.id}] is at place ${outside.place}, but the prompt has ${prompt.length} tokens`;
  }
  const named = [...path, best, ...steps.flatMap(s => [...s.live, ...s.chosen, ...s.finished])];
  const unknown = named.find(id => !nodes[id]);
  return unknown === undefined ? null : `node ${unknown} is named, but there are ${nodes.length}`;
}

/** Node ids from the root to `id`. */
export function ancestry(trace: ITrace, id: number): number[] {
  const up: number[] = [];
  for (let at = id; at >= 0; at = trace.nodes[at].parent) {
    up.push(at);
  }
  return up.reverse();
}

/** The hypothesis that a step shows: the wanted one if it is still live, else that of the best path, else the first. */
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
  const own = [...now.chosen, ...now.finished].filter(id => trace.nodes[id].parent === parent);
  const id = own.find(child => trace.path.includes(child)) ?? own[0];
  return id === undefined ? null : trace.nodes[id];
}

/** The text before a step: the prompt, then what was chosen (the root is the prompt's end), or in it what was filled in. */
export function tokensSoFar(trace: ITrace, node: number): string[] {
  const chain = ancestry(trace, node).map(id => trace.nodes[id]);
  const text = [...trace.prompt];
  for (const { token, place } of trace.prompt.length ? chain.slice(1) : chain) {
    text[place ?? text.length] = token;
  }
  return text;
}

/** Labels of the decoder's positions along the best path, which are attention's rows. */
export function rowLabels(trace: ITrace): string[] {
  return tokensSoFar(trace, trace.path[trace.path.length - 1] ?? 0);
}

/** The decoder position whose query predicts the token of a step. */
export function queryRow(trace: ITrace, step: number): number {
  return Math.max(1, trace.prompt.length) - 1 + step;
}

export async function inflate(base64: string): Promise<Uint8Array> {
  const text = atob(base64);
  const raw = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    raw[i] = text.charCodeAt(i);
  }
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** How many bytes a map inflates to; a difference means a damaged trace. */
export function mapBytes(m: IAttention): number {
  return m.layers * m.heads * (m.triangle ? (m.rows * (m.rows + 1)) / 2 : m.rows * m.cols);
}

/** Reads one head's map without copying: `at(row, column)` is a probability. */
export function headMap(
  m: IAttention,
  bytes: Uint8Array,
  layer: number,
  head: number
): (r: number, c: number) => number {
  const size = mapBytes(m) / (m.layers * m.heads);
  const start = (layer * m.heads + head) * size;
  if (m.triangle) {
    return (r, c) => (c > r ? 0 : bytes[start + (r * (r + 1)) / 2 + c] / 255);
  }
  return (r, c) => bytes[start + r * m.cols + c] / 255;
}

/** The positions that a row or column of a map represents: one, or the first and the last where maps are pooled. */
export function positions(at: number, pooled: IPooling | undefined, side: 'rows' | 'cols'): number[] {
  return pooled ? [...new Set([at * pooled.by, Math.min(pooled[side], (at + 1) * pooled.by) - 1])] : [at];
}

/** The note about pooling for the reader; empty if a map is not pooled. */
export const poolingNote = (pooled?: IPooling): string =>
  pooled
    ? translated(
        'Attention pooled %1 × %1 to keep the notebook small: each square is the largest weight of its block.',
        pooled.by
      )
    : '';

export interface IPlaced {
  node: INode;
  x: number; // column, in steps
  y: number; // row
}

/**
 * Nodes of the tree to draw at a step: all of recent columns, as many as fit the budget, and nothing of the future. Of older columns, those that
 * lead to a node of these or to the result, so that the tree is whole and the result's hypothesis in it, even if it ended long ago.
 */
export function visibleNodes(trace: ITrace, step: number, budget = 160): INode[] {
  const past = trace.nodes.filter(n => n.step <= step + 1);
  let from = 0;
  while (from < step && past.filter(n => n.step >= from).length > budget) {
    from++;
  }
  const shown = new Set(past.filter(n => n.step >= from).map(n => n.id));
  const best = newestOfResult(trace, step);
  for (const id of [...shown, ...(best === undefined ? [] : [best])]) {
    for (let at = id; at >= 0 && !(at !== id && shown.has(at)); at = trace.nodes[at].parent) {
      shown.add(at);
    }
  }
  return past.filter(n => shown.has(n.id));
}

/** The last node of the result's path that exists at a step. */
export const newestOfResult = (trace: ITrace, step: number): number | undefined =>
  trace.path.filter(id => trace.nodes[id].step <= step + 1).pop();

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
    const heights = (children.get(node.id) ?? []).map(place);
    const y = heights.length ? (heights[0] + heights[heights.length - 1]) / 2 : row++;
    placed.push({ node, x: node.step - left, y });
    return y;
  };
  (children.get(-1) ?? []).forEach(place);
  return placed;
}

/** The tokens that were generated or chosen by hand, along the best path. */
export function generated(trace: ITrace): string[] {
  const forced = trace.offset ? trace.prompt.slice(-trace.offset) : [];
  return [...forced, ...trace.path.slice(1).map(id => trace.nodes[id].token)];
}

/** How many steps a trace spans, those chosen by hand included. */
export const countSteps = (trace: ITrace): number => (trace.offset ?? 0) + trace.steps.length;

/** The first step at which two runs part ways, or -1: they agree as far as both go, and are equally long. */
export function divergence(one: ITrace, other: ITrace): number {
  const [a, b] = [generated(one), generated(other)];
  const place = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => i).find(i => a[i] !== b[i]);
  return place ?? -1;
}

export interface ICandidate {
  token: string;
  id: number;
  p: number | null; // null: not among the most probable tokens that were recorded
  stages: (number | null)[];
  told: Record<string, number>;
  state: 'chosen' | 'kept' | 'dropped' | '';
}

/** The candidates of a step after `node`: the most probable tokens, and others that the strategy tried. */
export function candidates(trace: ITrace, step: number, node: number): ICandidate[] {
  const now = trace.steps[step];
  const best = now?.topk[String(node)] ?? [];
  const stages = now?.stages?.[String(node)] ?? [];
  const tried = trace.nodes.filter(n => n.parent === node && n.step === step + 1);
  const taken = chosenFrom(trace, step, node)?.id;
  const stateOf = (n: INode | undefined): ICandidate['state'] =>
    !n ? '' : n.id === taken ? 'chosen' : n.state === 'dropped' ? 'dropped' : 'kept';
  const rows = best.map(([token, id, p], i): ICandidate => {
    const made = tried.find(n => n.token_id === id);
    return { token, id, p, stages: stages.map(s => s.p[i]), told: made?.told ?? {}, state: stateOf(made) };
  });
  const rest = tried.filter(n => !best.some(([, id]) => id === n.token_id));
  const blank = stages.map(() => null);
  return [
    ...rows,
    ...rest.map(n => ({
      token: n.token,
      id: n.token_id,
      p: null,
      stages: blank,
      told: n.told ?? {},
      state: stateOf(n)
    }))
  ];
}

/** Ids of the tokens generated on the way to a node. */
export const tokenIdsTo = (trace: ITrace, node: number): number[] =>
  ancestry(trace, node)
    .slice(1)
    .map(id => trace.nodes[id].token_id);

/** The log-probability of a hypothesis, and how many of its tokens count. */
export function sumLogProbs(trace: ITrace, node: number): [number, number] {
  const chain = ancestry(trace, node).slice(1);
  return [chain.reduce((sum, id) => sum + trace.nodes[id].logp, 0), chain.length];
}

/** A number of bytes with its unit. */
export function bytes(count: number): string {
  const unit = count < 1e3 ? 0 : count < 1e6 ? 1 : count < 1e9 ? 2 : 3;
  return `${unit ? (count / 1e3 ** unit).toFixed(1) : count} ${['B', 'kB', 'MB', 'GB'][unit]}`;
}
