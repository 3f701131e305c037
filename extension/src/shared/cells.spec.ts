import { expect, it } from 'vitest';
import { outcomesOf } from './cells';

it('finds what a check in the kernel has found, and nothing else', () => {
  const outcome = { exercise: 'masks.causal', status: 'passed', score: 1, max_score: 1 };
  const cell = (outputs?: unknown[]): { toJSON(): unknown } => ({ toJSON: () => ({ outputs }) });
  const verdict = { output_type: 'display_data', data: { 'text/html': '', 'application/vnd.tfkit.verdict+json': outcome } };
  expect(outcomesOf(cell([{ output_type: 'stream', text: 'x' }, { data: { 'text/plain': '3' } }, verdict]))).toEqual([outcome]);
  expect(outcomesOf(cell([]))).toEqual([]);
  expect(outcomesOf(cell())).toEqual([]); // a text cell
});
