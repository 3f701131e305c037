/** What lies ahead in the course: the next step, and what is late. */
import type { IExercise, IUnit } from '../../shared/tokens';

export interface IPlace {
  readonly unit: IUnit;
  readonly exercise: IExercise;
}

/**
 * The next exercise that is not passed: behind the one where the reader is (`here`, its id), in the order of the course, and from
 * its beginning where nothing is open behind; the one where they are where nothing else is.
 */
export function nextOf(units: readonly IUnit[], here: string | null = null): IPlace | null {
  const all = units.flatMap(unit => unit.exercises.map(exercise => ({ unit, exercise })));
  const at = all.findIndex(({ exercise }) => exercise.id === here);
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find(({ exercise }) => exercise.state !== 'passed') ?? null;
}

/** Whether a unit should have been handed in before `now`, and is not done. */
export function isLate({ due, exercises }: Pick<IUnit, 'due' | 'exercises'>, now: Date): boolean {
  return due !== null && new Date(due) < now && exercises.some(exercise => exercise.state !== 'passed');
}
