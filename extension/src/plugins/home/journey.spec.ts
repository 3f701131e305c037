import { describe, expect, it } from 'vitest';
import type { ExerciseState, IExercise, IUnit } from '../../shared/tokens';
import { comingDue, isFinished, minutesLeft, search, splitTitle, resumePoint, tallyOf } from './journey';

const exercise = (id: string, state: ExerciseState, more: Partial<IExercise> = {}): IExercise => ({
  ...{
    id,
    title: id,
    state,
    score: Number(state === 'passed'),
    max_score: Number(state !== 'not_started'),
    points: 1,
    at: null
  },
  ...more
});

const unit = (name: string, exercises: IExercise[], more: Partial<IUnit> = {}): IUnit => ({
  ...{
    path: `${name}.ipynb`,
    name,
    title: name,
    about: '',
    minutes: 60,
    due: null,
    terms: [],
    predictions: { asked: 0, made: 0 }
  },
  exercises,
  ...more
});

it('counts exercises, and points in the course’s own worth', () => {
  const half = exercise('b', 'failed', { score: 1, max_score: 2, points: 3 });
  const units = [
    unit('one', [exercise('a', 'passed'), half]),
    unit('two', [exercise('c', 'not_started', { points: null })])
  ];
  expect(tallyOf(units)).toEqual({ passed: 1, exercises: 3, earned: 2.5, points: 5 });
  expect(tallyOf([])).toEqual({ passed: 0, exercises: 0, earned: 0, points: 0 });
});

describe('where to go on', () => {
  const place = (...units: IUnit[]): unknown => {
    const stop = resumePoint(units);
    return stop && [stop.exercise?.id, stop.started];
  };

  it('is the beginning where nothing has been checked, and nowhere where all is passed', () => {
    expect(place(unit('one', [exercise('a', 'not_started'), exercise('b', 'not_started')]))).toEqual(['a', false]);
    expect(place(unit('one', [exercise('a', 'passed', { at: '2026-01-01' })]))).toBeNull();
    expect(place()).toBeNull();
  });

  it('is what was checked last, or the next open one behind it where that is passed', () => {
    const first = unit('one', [
      exercise('a', 'not_started'),
      exercise('b', 'failed', { at: '2026-01-03T10:00:00+00:00' })
    ]);
    const second = unit('two', [
      exercise('c', 'passed', { at: '2026-01-02T10:00:00+00:00' }),
      exercise('d', 'not_started')
    ]);
    expect(place(first, second)).toEqual(['b', true]);
    const later = unit('two', [
      exercise('c', 'passed', { at: '2026-01-04T10:00:00+00:00' }),
      exercise('d', 'not_started')
    ]);
    expect(place(first, later)).toEqual(['d', true]);
  });

  it('is no exercise whose cell is gone', () => {
    const lost = exercise('a', 'failed', { at: '2026-01-01', lost: true });
    expect(place(unit('one', [lost, exercise('b', 'not_started')]))).toEqual(['b', true]);
  });
});

it('lists what is to be handed in, soonest first, without what is done', () => {
  const due = (name: string, at: string | null, state: ExerciseState): IUnit =>
    unit(name, [exercise(name, state)], { due: at });
  const units = [
    due('a', '2026-12-01T00:00:00+00:00', 'failed'),
    due('b', '2026-11-30T20:00:00-05:00', 'failed'),
    due('c', null, 'failed'),
    due('d', '2026-01-01T00:00:00+00:00', 'passed')
  ];
  expect(comingDue(units).map(({ name }) => name)).toEqual(['a', 'b']); // b is at one o'clock of a's day
  expect(comingDue(units, 1)).toHaveLength(1);
});

it('says how long the rest of a unit takes', () => {
  const exercises = [exercise('a', 'passed'), exercise('b', 'failed'), exercise('c', 'not_started')];
  expect(minutesLeft(unit('one', exercises))).toBe(40);
  expect(minutesLeft(unit('one', exercises, { minutes: 50 }))).toBe(35);
  expect(minutesLeft(unit('one', exercises, { minutes: null }))).toBeNull();
});

it('takes the number off a title', () => {
  expect([splitTitle('02 · Masks'), splitTitle('Masks · again'), splitTitle('7')]).toEqual([
    ['02', 'Masks'],
    ['', 'Masks · again'],
    ['', '7']
  ]);
});

describe('a search', () => {
  const units = [
    unit('02-masks', [exercise('masks.causal', 'passed', { title: 'Not the future' })], {
      title: '02 · Masks',
      terms: [{ word: 'causal', means: 'No later one.' }]
    }),
    unit('07-decoding', [exercise('decode.beam', 'failed', { title: 'Plusieurs à la fois' })], {
      title: '07 · Decoding',
      terms: [{ word: 'beam', means: 'The best few.' }]
    })
  ];
  const found = (query: string): string[] =>
    search(units, query).map(
      one =>
        `${one.kind} ${one.kind === 'unit' ? one.unit.name : one.kind === 'term' ? one.term.word : one.exercise.id}`
    );

  it('finds units, exercises by title and id, and words of the glossary', () => {
    expect(found('mask')).toEqual(['unit 02-masks', 'exercise masks.causal']);
    expect(found('FUTURE not')).toEqual(['exercise masks.causal']);
    expect(found('beam')).toEqual(['exercise decode.beam', 'term beam']);
    expect(found('a la')).toEqual(['exercise decode.beam']); // without the accent
  });

  it('finds nothing for nothing, and at most six of each kind', () => {
    expect([found('  '), found('zebra')]).toEqual([[], []]);
    const many = unit(
      'm',
      Array.from({ length: 20 }, (_, i) =>
        exercise(`x.${i}`, 'failed', { title: i === 19 ? '3 · Mask first' : `a mask ${i}` })
      )
    );
    const hits = search([many], 'mask');
    expect(hits).toHaveLength(6);
    expect(hits[0]).toMatchObject({ exercise: { id: 'x.19' } }); // what begins with it comes first
  });
});

describe('a unit that is a project', () => {
  const project = (more: Partial<IUnit> = {}): IUnit => unit('17', [], { project: { cell: 'x', points: 10 }, ...more });

  it('is not finished, takes its whole time, and adds no exercise', () => {
    expect(isFinished(project())).toBe(false);
    expect(minutesLeft(project())).toBe(60);
    expect(tallyOf([project()])).toEqual({ passed: 0, exercises: 0, earned: 0, points: 0 });
    expect(resumePoint([unit('one', [exercise('a', 'passed')]), project()])).toBeNull();
    expect(search([project()], '17')).toHaveLength(1);
  });

  it('is to be handed in until its day has come', () => {
    const [soon, past] = ['2100-01-01T00:00:00Z', '2020-01-01T00:00:00Z'].map(due => project({ due }));
    expect(comingDue([soon, past])).toEqual([soon]);
  });
});
