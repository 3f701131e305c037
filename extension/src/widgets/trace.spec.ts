import Ajv from 'ajv';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { IValidate, schemaProblem } from '../schemas/errors';
import {
  ancestry,
  candidates,
  chosenFrom,
  divergence,
  focus,
  headMap,
  inflate,
  ITrace,
  layout,
  mapBytes,
  problem,
  tokensSoFar,
  visibleNodes,
  withDraftTokens
} from './trace';
import { paint, rowTable } from './heatmap';
import { faded, palette } from './palette';
import { hypotheses } from './tree';

// The same files that the Python side validates.
const golden = (name: string): ITrace => JSON.parse(readFileSync(`../tests/extension/golden/${name}.json`, 'utf-8'));

describe.each(['greedy', 'beam', 'sample', 'contrastive', 'speculative', 'diverse', 'pooled'])(
  'the golden %s trace',
  name => {
    it('is accepted', () => expect(problem(golden(name))).toBeNull());

    it('has every candidate once', () => {
      const trace = golden(name);
      trace.steps.forEach((step, i) => {
        const ids = candidates(trace, i, step.live[0]).map(c => c.id);
        expect(new Set(ids).size).toBe(ids.length);
      });
    });
  }
);

describe('two runs', () => {
  it('part where the first token differs', () => {
    const one = golden('greedy');
    const other = golden('greedy');
    other.nodes[3].token = 'else';
    expect([divergence(one, golden('greedy')), divergence(one, other)]).toEqual([-1, 2]);
  });

  it('part where the shorter ends', () => {
    const one = golden('greedy');
    expect(divergence(one, { ...one, path: one.path.slice(0, 3) })).toBe(2);
  });
});

describe('a schema', () => {
  it('refuses what it does not allow, and says where', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      additionalProperties: false,
      properties: { a: { oneOf: [{ type: 'null' }, { const: 1 }] } }
    };
    const validate = new Ajv().compile(schema) as IValidate;
    expect(schemaProblem(validate, { a: null })).toBeNull();
    expect(schemaProblem(validate, {})).toBe('$ lacks "a"');
    expect(schemaProblem(validate, { a: 2 })).toBe('$.a matches none of the alternatives');
    expect(schemaProblem(validate, { a: 1, b: 1 })).toBe('$ must not have "b"');
  });

  it('does not spell out what it accepts: a frame of attention is half a megabyte', () => {
    const spelt = { toJSON: () => expect.fail('was spelt out') };
    expect(schemaProblem(new Ajv().compile({ type: 'object', properties: {} }) as IValidate, spelt)).toBeNull();
  });
});

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
    [{ schema: 'other/1' }, '$.schema must be "tfkit.trace/1"'],
    [{ nodes: [] }, '$.nodes needs 1 items'],
    [{ path: [99] }, 'node 99 is named'],
    [{ nodes: [{ id: 0, parent: 0, token: 'x' }], path: [0] }, '$.nodes[0] lacks "step"'],
    [{ nodes: golden('greedy').nodes.map(n => ({ ...n, parent: 9 })) }, 'earlier parent'],
    [{ steps: [{ live: [99], chosen: [], finished: [], topk: {}, entropy: {} }] }, 'node 99 is named']
  ])('%j is told in words', (change, words) => {
    expect(problem({ ...golden('greedy'), ...change })).toContain(words);
  });

  it('is read where it calls the draft tokens guesses, as older ones do', () => {
    const trace = golden('speculative');
    const old: unknown = JSON.parse(JSON.stringify(trace).replace(/"draft_tokens"/g, '"guesses"'));
    expect(problem(old)).toContain('"draft_tokens"');
    expect(withDraftTokens(old)).toEqual(trace);
    for (const other of [null, {}, { steps: 3 }, { steps: [null, { draft: 1 }] }, trace]) {
      expect(withDraftTokens(other)).toBe(other);
    }
  });

  it('is not taken for one', () => expect(problem(null)).toBe('there is no trace'));
});

describe('tokens', () => {
  it('begin with the prompt, whose last is the root', () => {
    const trace = { ...golden('greedy'), prompt: ['a', '<s>'] };
    expect(tokensSoFar(trace, 0)).toEqual(['a', '<s>']);
    expect(tokensSoFar(trace, 1)).toEqual(['a', '<s>', trace.nodes[1].token]);
  });

  it('that were filled in stand in their places of the prompt', () => {
    const trace = { ...golden('greedy'), prompt: ['a', '▢', '▢'] };
    const [, first, second] = trace.path;
    trace.nodes[first].place = 2;
    trace.nodes[second].place = 1;
    expect(problem(trace)).toBeNull();
    expect(tokensSoFar(trace, first)).toEqual(['a', '▢', trace.nodes[first].token]);
    expect(tokensSoFar(trace, second)).toEqual(['a', trace.nodes[second].token, trace.nodes[first].token]);
    trace.nodes[first].place = 3;
    expect(problem(trace)).toMatch(`nodes[${first}] is at place 3, but the prompt has 3 tokens`);
  });
});

describe('the tree', () => {
  const trace = golden('beam');

  it('shows nothing of the future', () => {
    expect(Math.max(...visibleNodes(trace, 1).map(n => n.step))).toBe(2);
  });

  it('keeps of the oldest columns only what leads on, when it grows beyond its budget', () => {
    const shown = visibleNodes(trace, 5, 12);
    expect(shown.length).toBeLessThan(visibleNodes(trace, 5).length);
    const ids = new Set(shown.map(n => n.id));
    expect(shown.filter(n => n.parent >= 0 && !ids.has(n.parent))).toEqual([]); // no fragment
  });

  it('has the hypothesis that becomes the result at each step, even after its end', () => {
    const short = { ...trace, path: trace.path.slice(0, 3) };
    for (let step = 0; step < trace.steps.length; step++) {
      const ids = visibleNodes(short, step, 4).map(n => n.id);
      expect(ids).toEqual(expect.arrayContaining(short.path.slice(0, step + 2)));
      expect(hypotheses(short, step).textContent).toContain('the result');
    }
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

  it('keeps rows to come clear, and those of the past fainter than the row of the step', () => {
    const pixels = new Uint8ClampedArray(4 * 9);
    const tones = palette();
    paint(pixels, at, 3, 3, 1, tones);
    const [past, now, ahead] = [0, 4, 8].map(place => [...pixels.slice(4 * place, 4 * place + 4)]);
    expect(now).toEqual([...tones.sequential[255], 255]);
    expect(past).toEqual([...faded(tones.sequential, tones.none, 0.6)[255], 255]);
    expect(ahead[3]).toBe(0);
  });

  it('has a table that hides no spike', () => {
    const labels = Array.from({ length: 500 }, (_, i) => String(i));
    expect(rowTable((_, c) => (c === 431 ? 1 : 0), 0, labels, 3)[0]).toEqual([431, '431', 1]);
  });
});
