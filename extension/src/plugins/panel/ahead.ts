/** What lies ahead in the course: the next step, and what is late. */
import type { IExercise, IUnit } from '../../shared/tokens';

/** The first exercise that is not passed yet, of the units in their order. */
export function nextOf(units: readonly IUnit[]): { unit: IUnit; exercise: IExercise } | null {
  const open = units.flatMap(unit => unit.exercises.map(exercise => ({ unit, exercise })));
  return open.find(({ exercise }) => exercise.state !== 'passed') ?? null;
}

/** Whether a unit should have been handed in before `now`, and is not done. */
export function isLate({ due, exercises }: Pick<IUnit, 'due' | 'exercises'>, now: Date): boolean {
  return due !== null && new Date(due) < now && exercises.some(exercise => exercise.state !== 'passed');
}
