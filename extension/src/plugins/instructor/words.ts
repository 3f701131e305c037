/** What the parts of the class page share: the words for a misconception, and how dates and points are written. */
import { decimal, writtenIn } from '../../shared/language';

/** A misconception in words, with the lines of an answer that has it; no line of it is a student's. */
export interface IMistake {
  readonly misconception: string;
  readonly students: number;
  readonly sentence: string;
  readonly example: readonly string[];
}

/** Shows a misconception to the class. */
export type ShowToAll = (mistake: IMistake, exercise: string) => void;

/** A number of points: at most two digits after the point, and none where they are nought. */
export const points = (value: number): string => decimal(value, 0, 2);

/** A day and a time, as the reader writes them. */
export const when = (at: string): string =>
  new Date(at).toLocaleString(writtenIn(), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit'
  });

/** The text of an error. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A name of a misconception or a kind of check, as words. */
export const spoken = (name: string): string => name.replace(/_/g, ' ');
