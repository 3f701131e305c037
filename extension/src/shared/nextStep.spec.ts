import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';
import type { ExerciseState, IStep, IUnit } from './tokens';
import { isLate, nameOf, nextOf, targetOf } from './nextStep';

const unit = (title: string, due: string | null, ...states: ExerciseState[]): IUnit => ({
  path: `${title}.ipynb`,
  name: title,
  title,
  about: '',
  minutes: null,
  due,
  terms: [],
  predictions: { asked: 0, made: 0 },
  exercises: states.map((state, i) => ({
    id: `${title}.${i}`,
    title: `${title} ${i}`,
    state,
    score: 0,
    max_score: 1,
    points: 1,
    at: null
  }))
});

it('goes on with the first exercise that is not passed', () => {
  const units = [unit('a', null, 'passed', 'passed'), unit('b', null, 'passed', 'failed', 'not_started')];
  expect(nextOf(units)?.exercise?.id).toBe('b.1');
  expect(nextOf(units.slice(0, 1))).toBeNull();
});

it('stays at an exercise that is not passed, goes on behind one that is, and round to what was left out', () => {
  const units = [
    unit('a', null, 'not_started', 'passed'),
    unit('b', null, 'passed', 'failed', 'not_started'),
    unit('c', null, 'passed')
  ];
  const next = (here: string | null): string | undefined => nextOf(units, here)?.exercise?.id;
  expect([next(null), next('a.0'), next('a.1'), next('b.1'), next('b.2'), next('c.0'), next('gone')]).toEqual([
    'a.0',
    'a.0',
    'b.1',
    'b.1',
    'b.2',
    'a.0',
    'a.0'
  ]);
  expect(nextOf([unit('a', null, 'passed', 'failed')], 'a.1')?.exercise?.id).toBe('a.1');
});

describe('with the steps of a lesson', () => {
  const done = (...kinds: [IStep['kind'], boolean | null][]): IStep[] =>
    kinds.map(([kind, isDone], i) => ({
      kind,
      cell: `${kind}-${i}`,
      title: `Section ${i}`,
      done: isDone,
      ...(kind === 'exercise' ? { exercise: `a.${kinds.slice(0, i).filter(([one]) => one === kind).length}` } : {})
    }));
  const next = (states: ExerciseState[], steps: IStep[], here: string | null = null): string | undefined =>
    nextOf([{ ...unit('a', null, ...states), steps }], here)?.step.cell ?? undefined;

  it('leads to the reward of an exercise before the next one, and through the end of the unit', () => {
    const steps = (compared: boolean, predicted: boolean, answered: boolean): IStep[] =>
      done(
        ['predict', true],
        ['exercise', null],
        ['compare', compared],
        ['predict', predicted],
        ['exercise', null],
        ['task', answered]
      );
    expect(next(['passed', 'not_started'], steps(false, false, false), 'a.0')).toBe('compare-2');
    expect(next(['passed', 'not_started'], steps(true, false, false), 'a.0')).toBe('predict-3');
    expect(next(['passed', 'not_started'], steps(true, true, false), 'a.0')).toBe('exercise-4');
    expect(next(['passed', 'passed'], steps(true, true, false), 'a.1')).toBe('task-5');
    expect(next(['passed', 'passed'], steps(true, true, true), 'a.1')).toBeUndefined();
    expect(next(['passed', 'passed'], steps(false, true, true), 'a.1')).toBe('compare-2');
  });

  it('begins with the first prediction, and stays at the exercise that was tried last', () => {
    const steps = done(['predict', false], ['exercise', null]);
    expect(next(['not_started'], steps)).toBe('predict-0');
    expect(next(['failed'], steps, 'a.0')).toBe('exercise-1');
  });

  it('says what each step is', () => {
    const [predict, compare, task] = done(['predict', false], ['compare', false], ['task', false]).map(step => ({
      unit: unit('a', null),
      step,
      exercise: null
    }));
    const trans = nullTranslator.load('tfkit_lab');
    expect([predict, compare, task].map(place => nameOf(place, trans))).toEqual([
      'Predict: Section 0',
      'See what comes out: Section 1',
      'Section 2'
    ]);
    expect(targetOf(task)).toEqual({ path: 'a.ipynb', cell: 'task-2' });
  });
});

it('is late only with what is not done', () => {
  const now = new Date('2026-10-12T18:30:00+02:00');
  expect(isLate(unit('a', '2026-10-12T16:00:00+00:00', 'passed', 'failed'), now)).toBe(true);
  expect(isLate(unit('a', '2026-10-12T16:00:00+00:00', 'passed'), now)).toBe(false);
  expect(isLate(unit('a', '2026-10-12T18:00:00+00:00', 'failed'), now)).toBe(false);
  expect(isLate(unit('a', null, 'failed'), now)).toBe(false);
});
