/** Which experiments were run since the page was opened: a notebook's file tells it only once it is saved. */
import type { IStep, IUnit } from '../../shared/tokens';

/** A cell of a notebook, as a set holds it. */
export const placeOf = (path: string, cell: string | null): string => `${path}#${cell}`;

/** The unit, with the experiments done that were run. */
export function withRuns(unit: IUnit, ran: ReadonlySet<string>): IUnit {
  const isRun = ({ kind, cell }: IStep): boolean => kind === 'experiment' && ran.has(placeOf(unit.path, cell));
  return { ...unit, steps: unit.steps?.map(step => (isRun(step) ? { ...step, done: true } : step)) };
}
