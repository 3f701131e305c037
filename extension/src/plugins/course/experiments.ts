/** Which experiments were run since the page was opened: a notebook's file tells it only once it is saved. */
import { compares, unsealedIn } from '../../shared/cells';
import type { IStep, IUnit } from '../../shared/tokens';

/** A cell of a notebook, as a set holds it. */
export const placeOf = (path: string, cell: string | null): string => `${path}#${cell}`;

/** The unit, with the experiments done that were run. */
export function withRuns(unit: IUnit, ran: ReadonlySet<string>): IUnit {
  const isRun = ({ kind, cell }: IStep): boolean => kind === 'experiment' && ran.has(placeOf(unit.path, cell));
  return { ...unit, steps: unit.steps?.map(step => (isRun(step) ? { ...step, done: true } : step)) };
}

interface ICellModel {
  readonly type: string;
  readonly sharedModel: { getSource(): string };
  getMetadata(key: string): unknown;
  toJSON(): unknown;
}

/** Whether a cell that was run shows what a prediction or an exercise was for, and was not passed over. */
export function showsResult(model: ICellModel): boolean {
  return compares(model) && !unsealedIn(model).length;
}
