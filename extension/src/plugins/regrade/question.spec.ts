import { expect, it } from 'vitest';
import { questionOf } from './question';

const cell = (metadata: Record<string, unknown>) => ({ getMetadata: (key: string) => metadata[key] });

it('finds the question of a graded cell, of a task, and of an answer', () => {
  const grade = { nbgrader: { grade: true, grade_id: 'check-masks-causal' } };
  expect(questionOf(cell(grade))).toBe('check-masks-causal');
  expect(questionOf(cell({ nbgrader: { task: true, grade_id: 'task-why' } }))).toBe('task-why');
  const answer = { nbgrader: { solution: true }, tfkit: { role: 'exercise', exercise: 'masks.causal' } };
  expect(questionOf(cell(answer))).toBe('masks.causal');
});

it('finds none in a cell that nobody marks', () => {
  expect(questionOf(cell({}))).toBeNull();
  expect(questionOf(cell({ nbgrader: { grade: true, grade_id: 3 } }))).toBeNull();
  expect(questionOf(cell({ tfkit: { role: 'exercise', exercise: 'masks.causal' } }))).toBeNull(); // no assignment
  expect(questionOf(null)).toBeNull();
});
