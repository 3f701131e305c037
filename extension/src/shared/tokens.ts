/** What this extension offers to others: import these tokens, and require or provide them as JupyterLab plugins do. */
import { Token } from '@lumino/coreutils';
import { ISignal } from '@lumino/signaling';
import { IModel } from '../widgets/model';

/** A way to draw recorded traces of some kind. */
export interface ITraceView {
  readonly name: string;
  /** Whether this view draws traces with this `kind`. */
  accepts(kind: string): boolean;
  /**
   * Draw `model.get('trace')` in `el`, in an element of class `tfk`; returns what takes it away again. What is to be kept
   * of the reader's place is told by a bubbling event `tfkit:state` whose detail is laid over the saved state.
   */
  mount(model: IModel, el: HTMLElement): () => void;
}

export interface ITraceViews {
  /** Add a view; the last one added that accepts a kind draws it, so a stranger can replace ours. */
  add(view: ITraceView): void;
  find(kind: string): ITraceView | null;
}

export const ITraceViews = new Token<ITraceViews>('@tfkit/lab:ITraceViews', 'The views that draw recorded traces.');

export type ExerciseState = 'not_started' | 'passed' | 'failed' | 'not_graded';

export interface IExercise {
  readonly id: string;
  readonly title: string;
  readonly state: ExerciseState;
  readonly score: number;
  readonly max_score: number;
  /** What it is worth in this course, or null where the notebook does not say. */
  readonly points: number | null;
  /** When it was last checked, as ISO 8601 in UTC, or null. */
  readonly at: string | null;
  /** Whether the notebook has lost the cell that the build gave it. */
  readonly lost?: boolean;
}

/** A word of a unit's glossary. */
export interface ITerm {
  readonly word: string;
  readonly means: string;
}

export interface IUnit {
  readonly path: string;
  /** As the course calls it, 02-masks, say. */
  readonly name: string;
  readonly title: string;
  /** The first paragraph of its notebook, without markup; may be empty. */
  readonly about: string;
  /** How long it takes, as the course plans it, or null. */
  readonly minutes: number | null;
  /** When it is to be handed in, as ISO 8601 with an offset, or null. */
  readonly due: string | null;
  readonly exercises: readonly IExercise[];
  /** How many predictions its notebook asks for, and how many are sealed. */
  readonly predictions: { readonly asked: number; readonly made: number };
  readonly terms: readonly ITerm[];
}

export interface ICourse {
  readonly units: readonly IUnit[];
  /** Why the units could not be read, or null. */
  readonly error: string | null;
  readonly changed: ISignal<ICourse, void>;
  refresh(): Promise<void>;
  /** Keep what a check in the kernel found; the button's checks are kept by the server. */
  record(outcome: unknown): Promise<void>;
}

export const ICourse = new Token<ICourse>('@tfkit/lab:ICourse', 'Units and exercises on this server, and their state.');
