import { describe, expect, it } from 'vitest';
import type { ExerciseState, IExercise, IStep } from '../../shared/tokens';
import { displayOf, ILessonCell, roundAt, roundsOf, setupLines, stagesOf } from './outline';

const cell = (id: string, role?: string, source = '', compares = false): ILessonCell => ({
  id,
  type: role === undefined ? 'markdown' : 'code',
  role,
  source,
  compares
});
const CELLS = [
  cell('title'),
  cell('demo-1', 'demo', 'from autograder import check\n'),
  cell('setup-1', 'setup', 'import math\n\nimport torch'),
  cell('text-1'),
  cell('predict-a', 'predict'),
  cell('solution', 'exercise'),
  cell('check', 'check'),
  cell('demo-2', 'demo', 'guess = predicted("02.a")', true),
  cell('demo-3', 'demo', 'show.masks()'),
  cell('setup-2', 'setup', 'def given(): ...'),
  cell('own', '')
];

it('folds the set-up below the title and leaves out the graded check; what teaches stays', () => {
  const displays = displayOf(CELLS);
  expect(displays.join(' ')).toBe('plain setup rest plain predict exercise check compare plain plain plain');
  expect(setupLines(CELLS, displays)).toBe(3);
  expect(displayOf([cell('title'), cell('demo-1', 'demo')])).toEqual(['plain', 'plain']); // there is no lesson below
});

describe('where the reader is', () => {
  const exercise = (id: string, state: ExerciseState): IExercise => ({
    ...{ id, title: id, state, score: 0, max_score: 1, points: 1, at: null }
  });
  const step = (kind: IStep['kind'], at: string, done: boolean | null = false, of?: string): IStep => ({
    ...{ kind, cell: at, title: '', done, exercise: of }
  });
  const ids = ['t0', 'p1', 'e1', 'c1', 't1', 'e2', 't2', 'p3', 'x3', 'q'];
  const steps = (predicted: boolean, compared: boolean): IStep[] => [
    step('predict', 'p1', predicted),
    step('exercise', 'e1', null, 'one'),
    step('compare', 'c1', compared),
    step('exercise', 'e2', null, 'two'),
    step('predict', 'p3'),
    step('experiment', 'x3'),
    step('task', 'q')
  ];
  const at = (index: number, state: ExerciseState, predicted = false, compared = false): string => {
    const rounds = roundsOf(steps(predicted, compared), [exercise('one', state), exercise('two', 'not_started')]);
    const stages = stagesOf(roundAt(rounds, ids, index)!, ids, index);
    return stages.map(({ name, done, current }) => `${done ? '+' : current ? '>' : ''}${name}`).join(' ');
  };

  it('goes from reading to comparing', () => {
    expect(at(0, 'not_started')).toBe('>read predict build check compare');
    expect(at(1, 'not_started')).toBe('+read >predict build check compare');
    expect(at(2, 'not_started', true)).toBe('+read +predict >build check compare');
    expect(at(2, 'failed', true)).toBe('+read +predict +build >check compare');
    expect(at(2, 'passed', true)).toBe('+read +predict +build +check >compare');
    expect(at(0, 'passed', true, true)).toBe('+read +predict +build +check +compare');
  });

  it('is the next exercise behind one, without the stages that it lacks', () => {
    expect(at(4, 'passed', true, true)).toBe('>read build check');
    expect(at(6, 'passed', true, true)).toBe('>read predict compare');
    expect(at(99, 'passed', true, true)).toBe('+read >predict compare');
  });

  it('leads to the cell of each stage', () => {
    const [round] = roundsOf(steps(false, false), [exercise('one', 'not_started')]);
    expect(stagesOf(round, ids, 0).map(({ cell: to }) => to)).toEqual(['t0', 'p1', 'e1', 'e1', 'c1']);
  });

  it('is nowhere in a lesson that asks for nothing', () => {
    expect(roundAt(roundsOf([], []), ids, 0)).toBeNull();
  });
});
