import { expect, it } from 'vitest';
import { cardsOf, outcomesOf } from './cells';

it('finds what a check in the kernel has found, and nothing else', () => {
  const outcome = { exercise: 'masks.causal', status: 'passed', score: 1, max_score: 1 };
  const cell = (outputs?: unknown[]): { toJSON(): unknown } => ({ toJSON: () => ({ outputs }) });
  const verdict = {
    output_type: 'display_data',
    data: { 'text/html': '', 'application/vnd.tfkit.verdict+json': outcome }
  };
  expect(outcomesOf(cell([{ output_type: 'stream', text: 'x' }, { data: { 'text/plain': '3' } }, verdict]))).toEqual([
    outcome
  ]);
  expect(outcomesOf(cell([]))).toEqual([]);
  expect(outcomesOf(cell())).toEqual([]); // a text cell
});

it('finds the cards of a check cell, without their style sheet', () => {
  const data = {
    'text/html': ['<style>p { color: red }</style>', '<p>x</p>'],
    'application/vnd.tfkit.verdict+json': { exercise: 'masks.causal', status: 'passed' }
  };
  const cell = (role: string) => ({
    getMetadata: () => ({ role }),
    toJSON: () => ({ outputs: [{ data }, { data: { 'text/html': 'y' } }] })
  });
  expect(cardsOf(cell('check'))).toEqual([{ exercise: 'masks.causal', status: 'passed', html: '<p>x</p>' }]);
  expect(cardsOf(cell('exercise'))).toEqual([]);
});
