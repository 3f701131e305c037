/** What a bug hunt is drawn from, by what stands in a notebook's metadata. */
import { meta } from '../../shared/cells';

interface IHasMetadata {
  getMetadata(key: string): unknown;
}

/** What the server is asked for: an exercise or a page, or any exercise of a unit. */
export type Subject = { hunt: string } | { unit: string };

/** The exercise of the active cell; else that of the hunt that the notebook holds, or its unit; null in other notebooks. */
export function subjectOf(
  notebook: IHasMetadata | null | undefined,
  cell: IHasMetadata | null | undefined
): Subject | null {
  const { hunt, unit } = (notebook?.getMetadata('tfkit') ?? {}) as { hunt?: unknown; unit?: unknown };
  const { exercise } = meta(cell);
  if (typeof unit === 'string') {
    return exercise ? { hunt: exercise } : { unit };
  }
  return typeof hunt === 'string' ? { hunt } : null;
}
