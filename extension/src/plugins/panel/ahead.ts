/** The next exercise of the course, and late units. */
import type { IExercise, IUnit } from '../../shared/tokens';

export interface IPlace {
  readonly unit: IUnit;
  readonly exercise: IExercise;
}

/**
 * The next exercise that is not passed, in the order of the course: after the reader's exercise (`here`, its id), then from the
 * beginning of the course, or else the reader's exercise itself.
 */
export function nextOf(units: readonly IUnit[], here: string | null = null): IPlace | null {
  const all = units.flatMap(unit => unit.exercises.map(exercise => ({ unit, exercise })));
  const at = all.findIndex(({ exercise }) => exercise.id === here);
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find(({ exercise }) => exercise.state !== 'passed') ?? null;
}

/** Whether a unit was due before `now` and is not finished. */
export function isLate({ due, exercises }: Pick<IUnit, 'due' | 'exercises'>, now: Date): boolean {
  return due !== null && new Date(due) < now && exercises.some(exercise => exercise.state !== 'passed');
}
