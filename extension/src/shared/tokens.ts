/** What this extension offers to others: import these tokens, and require or provide them as JupyterLab plugins do. */
import { Token } from '@lumino/coreutils';
import { ISignal } from '@lumino/signaling';
import type { ILeaderboard } from './leaderboard';
import { IModel } from '../widgets/model';

/** A way to draw recorded traces of some kind. */
export interface ITraceView {
  readonly name: string;
  /** Whether this view draws traces with this `kind`. */
  accepts(kind: string): boolean;
  /**
   * Draws `model.get('trace')` in `el`, in an element of class `tfk`; returns a function that removes it. To save the
   * reader's position, the view dispatches a bubbling event `tfkit:state` whose detail is merged into the saved state.
   */
  mount(model: IModel, el: HTMLElement): () => void;
}

export interface ITraceViews {
  /** Adds a view; the last added view that accepts a kind draws it, so another extension can replace a built-in one. */
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
  /** The exercise's points in this course, or null where the notebook has none. */
  readonly points: number | null;
  /** When it was last checked, as ISO 8601 in UTC, or null. */
  readonly at: string | null;
  /** The outcome of the last check where it was not as good as the best, which counts; or null. */
  readonly last?: ExerciseState | null;
  /** Whether the notebook has lost the cell that the build gave it. */
  readonly lost?: boolean;
}

/** Something that a lesson asks for, in the order of its cells. */
export interface IStep {
  readonly kind: 'predict' | 'exercise' | 'compare' | 'experiment' | 'task';
  /** The cell's id, or null where the cell is gone. */
  readonly cell: string | null;
  /** The heading above it. */
  readonly title: string;
  /** Whether it is done; null for an exercise, whose state says it. */
  readonly done: boolean | null;
  readonly exercise?: string;
  /** The name of the prediction that is asked for, or compared. */
  readonly prediction?: string;
}

/** A word of a unit's glossary. */
export interface ITerm {
  readonly word: string;
  readonly means: string;
}

/** A cell of a student's own that is measured or marked as a whole, such as the capstone's. */
export interface IProject {
  /** The cell's id. */
  readonly cell: string;
  readonly points: number | null;
}

export interface IUnit {
  readonly path: string;
  /** The unit's name in the course, such as 02-masks. */
  readonly name: string;
  readonly title: string;
  /** The first paragraph of its notebook, without markup; may be empty. */
  readonly about: string;
  /** The planned duration, or null. */
  readonly minutes: number | null;
  /** The tracks that the unit is in: their names and titles, and how many units they have. */
  readonly tracks?: readonly (readonly [name: string, title: string, count: number])[];
  /** The due date, as ISO 8601 with an offset, or null. */
  readonly due: string | null;
  /** May be empty: a unit can be a project instead. */
  readonly exercises: readonly IExercise[];
  readonly project?: IProject | null;
  /** The id of the cell that puts the unit's parts into the student's own model, or null. */
  readonly model_cell?: string | null;
  /** The id of the cell that asks questions on earlier units, or null. */
  readonly recall_cell?: string | null;
  /** The measured results of the project, if the server can read them. */
  readonly leaderboard?: ILeaderboard | null;
  /** How many predictions its notebook asks for, and how many are sealed. */
  readonly predictions: { readonly asked: number; readonly made: number };
  /** What the lesson asks for, in its order; absent where nobody can say what is done, as in a tab. */
  readonly steps?: readonly IStep[];
  readonly terms: readonly ITerm[];
}

/** A line of the table of a student's own model: what it could do with the parts of a unit put in. */
export interface IModelLine {
  /** The unit's number. */
  readonly unit: number;
  /** How many of the parts that the model needs are the student's own, and how many it needs. */
  readonly own: number;
  readonly of: number;
  readonly steps: number;
  readonly bits_per_byte: number;
  readonly bytes_per_second: number;
  /** A line that the model wrote; may be empty. */
  readonly writes: string;
}

export interface IOwnModel {
  /** In the units' order. */
  readonly lines: readonly IModelLine[];
  /** Whether the table is there but cannot be read. */
  readonly damaged: boolean;
}

/** Questions on earlier units that come back. */
export interface IRecall {
  /** How many are due. */
  readonly due: number;
  /** When the next one comes back, if none is due. */
  readonly next: string | null;
}

/** A path through the course. */
export interface ITrack {
  readonly name: string;
  readonly title: string;
  readonly units: readonly IUnit[];
}

export interface ICourse {
  readonly units: readonly IUnit[];
  /** The track that the student has chosen, or null for the whole course. */
  readonly track: ITrack | null;
  /** The table of the student's own model; null where no unit puts anything into it. */
  readonly model?: IOwnModel | null;
  /** Questions on earlier units; null before any was answered. */
  readonly recall?: IRecall | null;
  /** Why the units could not be read, or null. */
  readonly error: string | null;
  readonly changed: ISignal<ICourse, void>;
  refresh(): Promise<void>;
  /** Chooses a track by its name; an empty one stands for the whole course. */
  chooseTrack(name: string): void;
  /** Stores the outcome of a check in the kernel; the server stores those of the button. */
  record(outcome: unknown): Promise<void>;
}

export const ICourse = new Token<ICourse>('@tfkit/lab:ICourse', 'Units and exercises on this server, and their state.');
