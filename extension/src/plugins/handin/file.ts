/** A submission for nbgrader's zip_collect: a notebook whose file name contains assignment, student and time. */

export interface ICellContent {
  id?: string;
  metadata?: Record<string, unknown>;
}

export interface INotebookContent {
  cells: ICellContent[];
  metadata: Record<string, unknown>;
}

/** Valid student names: letters and digits, with . @ - between them. */
export const STUDENT = /^[A-Za-z0-9]+([.@-][A-Za-z0-9]+)*$/;

/** The assignment that a notebook is of, or null. */
export function assignmentOf(metadata: Record<string, unknown>): string | null {
  const { unit } = (metadata.tfkit ?? {}) as { unit?: unknown };
  return typeof unit === 'string' && unit ? unit : null;
}

/** 02-masks_ada_attempt_20261123T140509Z_02-masks.ipynb, in UTC. */
export function nameOf(assignment: string, student: string, at: Date): string {
  const time = `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  return `${assignment}_${student}_attempt_${time}_${assignment}.ipynb`;
}

/** The notebook without the cells that only the site without a server needs. */
export function withoutTab<T extends INotebookContent>(notebook: T): T {
  const isTabCell = (cell: ICellContent): boolean => /^(tab-(about|start)$|needs-lab-)/.test(cell.id ?? '');
  return { ...notebook, cells: notebook.cells.filter(cell => !isTabCell(cell)) };
}
