import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ancestry, chosenFrom, focus, headMap, inflate, ITrace, layout, mapBytes, problem, tokensSoFar, visibleNodes } from './trace';
import { paint, rowTable } from './heatmap';

// The same files that the Python side validates.
const golden = (name: string): ITrace => JSON.parse(readFileSync(`../tests/extension/golden/${name}.json`, 'utf-8'));

describe.each(['greedy', 'beam'])('the golden %s trace', name => {
  const trace = golden(name);

  it('is accepted', () => expect(problem(trace)).toBeNull());

  it('has a path that is the best node’s ancestry', () => expect(ancestry(trace, trace.best)).toEqual(trace.path));

  it('inflates to rows that are probabilities', async () => {
    const map = trace.attention!.self!;
    const bytes = await inflate(map.data);
    expect(bytes.length).toBe(mapBytes(map));
    const at = headMap(map, bytes, 1, 2);
    for (let r = 0; r < map.rows; r++) {
      const row = Array.from({ length: map.cols }, (_, c) => at(r, c));
      expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 1);
      expect(row.slice(r + 1).every(w => w === 0)).toBe(true);
    }
  });

  it('focuses on a live node and knows what became of it', () => {
    trace.steps.forEach((step, i) => {
      const node = focus(trace, i);
      expect(step.live).toContain(node);
      expect(chosenFrom(trace, i, node)?.parent ?? node).toBe(node);
    });
    const greedyChoice = chosenFrom(trace, 0, 0);
    expect(greedyChoice?.id).toBe(trace.path[1]);
  });
});

describe('a spoiled trace', () => {
  it.each([
    [{ schema: 'other/1' }, 'schema is'],
    [{ nodes: [] }, 'root node'],
    [{ path: [99] }, 'path'],
    [{ nodes: [{ id: 0, parent: 0, token: 'x' }], path: [0] }, 'parent'],
    [{ steps: [{ live: [99], chosen: [], finished: [], topk: {}, entropy: {} }] }, 'steps[0].live']
  ])('%j is told in words', (change, words) => {
    expect(problem({ ...golden('greedy'), ...change })).toContain(words);
  });

  it('is not taken for one', () => expect(problem(null)).toBe('there is no trace'));
});

describe('tokens', () => {
  it('begin with the prompt, whose last is the root', () => {
    const trace = { ...golden('greedy'), prompt: ['a', '<s>'] };
    expect(tokensSoFar(trace, 0)).toEqual(['a', '<s>']);
    expect(tokensSoFar(trace, 1)).toEqual(['a', '<s>', trace.nodes[1].token]);
  });
});

describe('the tree', () => {
  const trace = golden('beam');

  it('shows nothing of the future', () => {
    expect(Math.max(...visibleNodes(trace, 1).map(n => n.step))).toBe(2);
  });

  it('drops the oldest columns when it grows beyond its budget', () => {
    const shown = visibleNodes(trace, 5, 12);
    expect(shown.length).toBeLessThanOrEqual(12);
    expect(Math.min(...shown.map(n => n.step))).toBeGreaterThan(0);
  });

  it('gives every node a place of its own', () => {
    for (let step = 0; step < trace.steps.length; step++) {
      const placed = layout(visibleNodes(trace, step));
      expect(new Set(placed.map(p => `${p.x},${p.y}`)).size).toBe(placed.length);
    }
  });
});

describe('the picture', () => {
  const at = (r: number, c: number): number => (r === c ? 1 : 0);

  it('keeps rows to come clear', () => {
    const pixels = new Uint8ClampedArray(4 * 9);
    paint(pixels, at, 3, 3, 1, [1, 2, 3]);
    expect([pixels[3], pixels[4 * 4 + 3], pixels[4 * 8 + 3]]).toEqual([140, 255, 0]);
  });

  it('has a table that hides no spike', () => {
    const labels = Array.from({ length: 500 }, (_, i) => String(i));
    expect(rowTable((_, c) => (c === 431 ? 1 : 0), 0, labels, 3)[0]).toEqual([431, '431', 1]);
  });
});
