/** What the marking page and the server say to each other. What the server answers is in protocol/marking.json, which both sides are tested by. */
import type { IListed, IMarked } from '../../generated/marking.protocol';

export type {
  IAdded,
  IAnswer,
  ICourseQuestions,
  ICourses,
  IDropped,
  IEvent,
  IExtension,
  IExtensions,
  IHistory,
  IListed,
  IMarked,
  IOpened,
  IOutcome,
  IRequest,
  IRequests,
  IRescored,
  IRubricItem,
  IShares,
  IVerdictWords
} from '../../generated/marking.protocol';

export type IQuestion = Pick<IListed, 'assignment' | 'notebook' | 'cell' | 'kind' | 'max_score'>;

/** The marks that other persons gave, by student. */
export type Meanwhile = IMarked['meanwhile'];

/** Names a question to the server. */
export interface IPlace {
  readonly course: string;
  readonly assignment: string;
  readonly notebook: string;
  readonly cell: string;
}

/** A mark to give. */
export interface IMark {
  readonly score: number | null;
  /** The comment without the texts of the chosen items. */
  readonly own: string;
  readonly chosen: readonly number[];
}

/** Asks the server; a body makes it a POST. */
export type Ask = <T>(route: string, body?: unknown) => Promise<T>;
