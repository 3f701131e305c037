/** The content of the home page: progress, the next exercise, due units, and search results. */
import { IPlace, isLate, lastChecked, nextOf } from '../../shared/nextStep';
import type { IExercise, ITerm, IUnit } from '../../shared/tokens';

export interface ITally {
  readonly passed: number;
  readonly exercises: number;
  readonly earned: number;
  readonly points: number;
}

const worth = ({ points, max_score }: IExercise): number => points ?? (max_score || 1);

/** Exercises and points of some units. A score counts as its share of what the exercise is worth in this course. */
export function tallyOf(units: readonly IUnit[]): ITally {
  const all = units.flatMap(unit => unit.exercises);
  const earned = all.map(one => (one.max_score > 0 ? Math.min(1, one.score / one.max_score) * worth(one) : 0));
  const sum = (numbers: number[]): number => Math.round(numbers.reduce((a, b) => a + b, 0) * 100) / 100;
  return {
    passed: all.filter(({ state }) => state === 'passed').length,
    exercises: all.length,
    earned: sum(earned),
    points: sum(all.map(worth))
  };
}

export interface IResumePoint extends IPlace {
  /** Whether anything has been checked yet. */
  readonly started: boolean;
}

/** Where to continue, by the rule of the panel; null where nothing is left to do. */
export function resumePoint(units: readonly IUnit[]): IResumePoint | null {
  const place = nextOf(units);
  return place && { ...place, started: lastChecked(units) !== null };
}

/** Whether nothing is left to do in a unit. A project is never finished, as this page does not know its result. */
export const isFinished = ({ exercises, project }: IUnit): boolean =>
  !project && exercises.every(({ state }) => state === 'passed');

/** The unfinished units that are due next, soonest first; a project as long as it can be handed in. */
export function comingDue(units: readonly IUnit[], most = 4): IUnit[] {
  const ahead = ({ project, due }: IUnit): boolean => !!project && new Date(due!) > new Date();
  const open = units.filter(unit => unit.due && (isLate(unit, new Date(8.64e15)) || ahead(unit)));
  return open.sort((a, b) => Date.parse(a.due!) - Date.parse(b.due!)).slice(0, most);
}

/** An estimate of the remaining time for a unit, in steps of five minutes; null if the course states no time. */
export function minutesLeft({ minutes, exercises }: IUnit): number | null {
  const open = exercises.filter(({ state }) => state !== 'passed').length;
  return minutes === null || !exercises.length ? minutes : Math.ceil((minutes * open) / exercises.length / 5) * 5;
}

/** "02 · Masks" as its number and the rest; a title without a number is all rest. */
export function splitTitle(title: string): [string, string] {
  const [, number, rest] = /^(\d+)\s*·\s*(.+)$/.exec(title) ?? [];
  return rest ? [number, rest] : ['', title];
}

export type SearchResult =
  | { kind: 'unit'; unit: IUnit }
  | { kind: 'exercise'; unit: IUnit; exercise: IExercise }
  | { kind: 'term'; unit: IUnit; term: ITerm };

/** The text without case and accents, so that "masquer" finds "Masquér". */
const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

const MAX_RESULTS = 6; // of each kind

/** Units, exercises and words that have every word of the query; those that begin with it come first. */
export function search(units: readonly IUnit[], query: string): SearchResult[] {
  const words = plain(query).split(/\s+/).filter(Boolean);
  if (!words.length) {
    return [];
  }
  const best = <T extends SearchResult>(all: T[], name: (found: T) => string, more: (found: T) => string): T[] => {
    const fits = all.filter(found => words.every(word => plain(`${name(found)} ${more(found)}`).includes(word)));
    const rank = (found: T): number =>
      [plain(name(found)).startsWith(words[0]), plain(name(found)).includes(words[0]), true].indexOf(true);
    return fits.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_RESULTS);
  };
  const exercises = units.flatMap(unit =>
    unit.exercises.map(exercise => ({ kind: 'exercise' as const, unit, exercise }))
  );
  const terms = units.flatMap(unit => unit.terms.map(term => ({ kind: 'term' as const, unit, term })));
  return [
    ...best(
      units.map(unit => ({ kind: 'unit' as const, unit })),
      found => splitTitle(found.unit.title)[1],
      found => found.unit.name
    ),
    ...best(
      exercises,
      found => splitTitle(found.exercise.title)[1],
      found => found.exercise.id
    ),
    ...best(
      terms,
      found => found.term.word,
      () => ''
    )
  ];
}
