/** The graded question that a cell belongs to, as `autograder request` takes it. */
import { exerciseOf } from '../../shared/cells';

interface IHasMetadata {
  getMetadata(key: string): unknown;
}

/** nbgrader's id of the question, or the id of its exercise; null for a cell that is no part of a question. */
export function questionOf(model: IHasMetadata | null | undefined): string | null {
  const mark = model?.getMetadata('nbgrader') as { grade?: unknown; task?: unknown; grade_id?: unknown } | undefined;
  if ((mark?.grade === true || mark?.task === true) && typeof mark.grade_id === 'string' && mark.grade_id) {
    return mark.grade_id;
  }
  return mark ? exerciseOf(model) : null;
}
