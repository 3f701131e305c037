/** The cells of a notebook that belong to a phrase of its text: those of its section. */

export interface ISectionCell {
  readonly type: string;
  readonly source: string;
}

const HEADING = /^##? /m; // parts within a section have smaller ones

const hasHeading = ({ type, source }: ISectionCell): boolean => type === 'markdown' && HEADING.test(source);

/**
 * The first and the last cell of the section of a phrase in the cell at `index`; `above` and `below`: whether a heading stands
 * above or below the phrase in its own cell, which may end one section and begin another.
 */
export function sectionOf(
  cells: readonly ISectionCell[],
  index: number,
  { above, below }: { above: boolean; below: boolean }
): [number, number] {
  let first = index;
  while (!above && first > 0 && !(first < index && hasHeading(cells[first]))) {
    first -= 1;
  }
  let last = index;
  while (!below && last + 1 < cells.length && !hasHeading(cells[last + 1])) {
    last += 1;
  }
  return [first, last];
}
