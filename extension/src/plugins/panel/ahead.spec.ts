import { expect, it } from 'vitest';
import type { ExerciseState, IUnit } from '../../shared/tokens';
import { isLate, nextOf } from './ahead';

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
  expect(nextOf(units)?.exercise.id).toBe('b.1');
  expect(nextOf(units.slice(0, 1))).toBeNull();
});

it('goes on behind where the reader is, and round to what was left out', () => {
  const units = [
    unit('a', null, 'not_started', 'passed'),
    unit('b', null, 'passed', 'failed', 'not_started'),
    unit('c', null, 'passed')
  ];
  const next = (here: string | null): string | undefined => nextOf(units, here)?.exercise.id;
  expect([next(null), next('a.0'), next('a.1'), next('b.1'), next('b.2'), next('c.0'), next('gone')]).toEqual([
    'a.0',
    'b.1',
    'b.1',
    'b.2',
    'a.0',
    'a.0',
    'a.0'
  ]);
  expect(nextOf([unit('a', null, 'passed', 'failed')], 'a.1')?.exercise.id).toBe('a.1');
});

it('is late only with what is not done', () => {
  const now = new Date('2026-10-12T18:30:00+02:00');
  expect(isLate(unit('a', '2026-10-12T16:00:00+00:00', 'passed', 'failed'), now)).toBe(true);
  expect(isLate(unit('a', '2026-10-12T16:00:00+00:00', 'passed'), now)).toBe(false);
  expect(isLate(unit('a', '2026-10-12T18:00:00+00:00', 'failed'), now)).toBe(false);
  expect(isLate(unit('a', null, 'failed'), now)).toBe(false);
});
