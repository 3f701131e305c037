import { expect, it } from 'vitest';
import { assignmentOf, nameOf, STUDENT, withoutTab } from './file';

it('names the file as zip_collect reads it', () => {
  const name = nameOf('02-masks', 'ada', new Date(Date.UTC(2026, 10, 23, 4, 5, 6)));
  expect(name).toBe('02-masks_ada_attempt_20261123T040506Z_02-masks.ipynb');
});

it('takes names that the file name can hold', () => {
  expect(['ada', 'ada.l', 'a-b', 'x1@uni.edu'].every(name => STUDENT.test(name))).toBe(true);
  expect(['', 'a_b', 'a/b', '../a', 'a b', '.a', 'a.', 'a..b', '-'].some(name => STUDENT.test(name))).toBe(false);
});

it('reads a long name at once', () => {
  const began = performance.now();
  const long = 'abcde'.repeat(12);
  expect([long, `${long}_`, `${long}.`].map(name => STUDENT.test(name))).toEqual([true, false, false]);
  expect(performance.now() - began).toBeLessThan(1000);
});

it('leaves out what only a tab needs, and nothing else', () => {
  const cells = ['text-1', 'tab-about', 'tab-start', 'needs-lab-training-adamw', 'solution-x'].map(id => ({ id }));
  const notebook = { cells, metadata: { tfkit: { unit: '06-training' } }, nbformat: 4 };
  expect(withoutTab(notebook)).toEqual({ ...notebook, cells: [{ id: 'text-1' }, { id: 'solution-x' }] });
  expect(assignmentOf(notebook.metadata)).toBe('06-training');
  expect(assignmentOf({})).toBeNull();
});
