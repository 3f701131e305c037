import { expect, it } from 'vitest';
import { sectionOf } from './section';

const text = (source: string): { type: string; source: string } => ({ type: 'markdown', source });
const code = { type: 'code', source: '# not a heading' };
const CELLS = [
  text('# 02 · Masks'),
  code,
  text('## 1 · The causal mask\n\nRows are queries.'),
  code,
  code,
  text('*Figure, in words.*\n\n## 2 · The padding mask\n\nColumns are keys.'),
  text('### A part of it'),
  code
];

it('is all cells up to the next heading where the phrase stands below one', () => {
  expect(sectionOf(CELLS, 2, { above: true, below: false })).toEqual([2, 4]);
  expect(sectionOf(CELLS, 5, { above: true, below: false })).toEqual([5, 7]); // a smaller heading does not end it
});

it('goes back to its heading where the phrase stands above the next', () => {
  expect(sectionOf(CELLS, 5, { above: false, below: true })).toEqual([2, 5]);
});

it('goes both ways from a cell without a heading', () => {
  expect(sectionOf(CELLS, 6, { above: false, below: false })).toEqual([5, 7]);
  expect(sectionOf([code, text('Rows.'), code], 1, { above: false, below: false })).toEqual([0, 2]);
});
