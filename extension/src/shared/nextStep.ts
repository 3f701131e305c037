/** What comes next in the course: one rule for the panel, the home page and the cards. And late units. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ICourse, IExercise, IStep, IUnit } from './tokens';

export interface IPlace {
  readonly unit: IUnit;
  readonly step: IStep;
  /** The exercise of the step, if it is one. */
  readonly exercise: IExercise | null;
}

/** The steps of a unit; its exercises alone where the server knows no more. */
function placesOf(unit: IUnit): IPlace[] {
  const steps: readonly IStep[] =
    unit.steps ??
    unit.exercises.map(({ id }) => ({ kind: 'exercise', cell: null, title: '', done: null, exercise: id }));
  const find = (step: IStep): IExercise | null => unit.exercises.find(({ id }) => id === step.exercise) ?? null;
  return steps.map(step => ({ unit, step, exercise: find(step) }));
}

const isDone = ({ step, exercise }: IPlace): boolean => (exercise ? exercise.state === 'passed' : step.done !== false);

/** The exercise that was checked last, or null. */
export function lastChecked(units: readonly IUnit[]): IExercise | null {
  const checked = units.flatMap(({ exercises }) => exercises).filter(({ at }) => at);
  return checked.sort((a, b) => (a.at! < b.at! ? 1 : -1))[0] ?? null;
}

/**
 * The next step of the course. It is the reader's exercise (`here`, its id; by default the one that was checked last) until that
 * is passed. Then it is what follows it: first what the exercise was for, as comparing a prediction or an experiment, then the
 * next prediction or exercise; at the end of the course, what was left out. Null where nothing is left to do.
 */
export function nextOf(units: readonly IUnit[], here: string | null = null): IPlace | null {
  const all = units.flatMap(placesOf);
  const start = here ?? lastChecked(units)?.id;
  const at = all.findIndex(({ exercise }) => start !== undefined && exercise?.id === start);
  if (at >= 0 && !isDone(all[at]) && !all[at].exercise?.lost) {
    return all[at];
  }
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find(place => !isDone(place)) ?? null;
}

/** The units to go through: those of the chosen track, or all. */
export function unitsOf({ track, units }: Pick<ICourse, 'track' | 'units'>): readonly IUnit[] {
  return track?.units ?? units;
}

/** The next step of the course, or of its chosen track, as `nextOf`. */
export function nextIn(course: Pick<ICourse, 'track' | 'units'>, here: string | null = null): IPlace | null {
  return nextOf(unitsOf(course), here);
}

/** What a step is called on a button. */
export function nameOf({ step, exercise }: IPlace, trans: TranslationBundle): string {
  switch (step.kind) {
    case 'predict':
      return trans.__('Predict: %1', step.title);
    case 'compare':
      return trans.__('See what comes out: %1', step.title);
    case 'exercise':
      return exercise?.title ?? step.title;
    default:
      return step.title;
  }
}

/** Where a step is, for the command that opens it. */
export function targetOf({ unit, step }: IPlace): { path: string; exercise?: string; cell?: string } {
  return step.exercise
    ? { path: unit.path, exercise: step.exercise }
    : { path: unit.path, cell: step.cell ?? undefined };
}

/** Whether a unit was due before `now` and is not finished. */
export function isLate({ due, exercises }: Pick<IUnit, 'due' | 'exercises'>, now: Date): boolean {
  return due !== null && new Date(due) < now && exercises.some(exercise => exercise.state !== 'passed');
}
