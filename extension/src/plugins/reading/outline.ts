/** What reading mode makes of the cells of a lesson: read from their metadata, without changing them. */
import type { IExercise, IStep } from '../../shared/tokens';

export interface ILessonCell {
  readonly id: string;
  readonly type: string;
  readonly role?: string;
  readonly source: string;
  readonly compares: boolean;
}

/** How a cell is shown: `rest` and `check` are left out, since the first set-up cell and the Check button stand for them. */
export type CellDisplay = 'setup' | 'rest' | 'check' | 'predict' | 'exercise' | 'compare' | 'plain';

/** How each cell is shown. Code between the title and the next text is set-up. */
export function displayOf(cells: readonly ILessonCell[]): CellDisplay[] {
  const text = cells.findIndex(({ type }, i) => i > 0 && type === 'markdown');
  return cells.map(({ type, role, compares }, i) => {
    if (type !== 'code') {
      return 'plain';
    }
    if (i < text) {
      return i === 1 ? 'setup' : 'rest';
    }
    if (role === 'check' || role === 'predict' || role === 'exercise') {
      return role;
    }
    return compares ? 'compare' : 'plain';
  });
}

/** The lines of code of the set-up. */
export function setupLines(cells: readonly ILessonCell[], displays: readonly CellDisplay[]): number {
  const setup = cells.filter((_, i) => displays[i] === 'setup' || displays[i] === 'rest');
  return setup.flatMap(({ source }) => source.split('\n')).filter(line => line.trim()).length;
}

export type StageName = 'read' | 'predict' | 'build' | 'check' | 'compare';

export interface IStage {
  readonly name: StageName;
  readonly done: boolean;
  /** Whether it is the first that is not done. */
  readonly current: boolean;
  /** The cell that it leads to. */
  readonly cell: string;
}

export interface IRound {
  readonly exercise: IExercise | null;
  readonly steps: readonly IStep[];
}

/** The steps of a lesson in rounds of one exercise: its predictions, itself, and what it was for. */
export function roundsOf(steps: readonly IStep[], exercises: readonly IExercise[]): IRound[] {
  const rounds: IStep[][] = [];
  for (const step of steps.filter(({ cell }) => cell !== null)) {
    const round = rounds[rounds.length - 1] as IStep[] | undefined;
    const has = (...kinds: IStep['kind'][]): boolean => !!round?.some(({ kind }) => kinds.includes(kind));
    const begins =
      step.kind === 'exercise' ? has('exercise', 'compare') : step.kind === 'predict' && has('exercise', 'compare');
    if (!round || begins) {
      rounds.push([step]);
    } else {
      round.push(step);
    }
  }
  return rounds.map(round => {
    const id = round.find(({ kind }) => kind === 'exercise')?.exercise;
    return { steps: round, exercise: exercises.find(one => one.id === id) ?? null };
  });
}

/** The round in which the reader is: the first that does not end above the cell at `index`, else the last. */
export function roundAt(rounds: readonly IRound[], ids: readonly string[], index: number): IRound | null {
  const end = ({ steps }: IRound): number => Math.max(...steps.map(({ cell }) => ids.indexOf(cell!)));
  return rounds.find(round => end(round) >= index) ?? rounds[rounds.length - 1] ?? null;
}

/** Read · predict · build · check · compare, as far as a round has them; `index` is the reader's cell. */
export function stagesOf({ steps, exercise }: IRound, ids: readonly string[], index: number): IStage[] {
  const of = (...kinds: IStep['kind'][]): IStep[] => steps.filter(({ kind }) => kinds.includes(kind));
  const first = ids.indexOf(steps[0].cell!);
  const begun = steps.some(({ done }) => done) || (exercise !== null && exercise.state !== 'not_started');
  const stage = (name: StageName, done: boolean, cell: string): Omit<IStage, 'current'> => ({ name, done, cell });
  const [predict, build, after] = [of('predict'), of('exercise'), of('compare', 'experiment', 'task')];
  const stages = [
    stage('read', begun || index >= first, ids[Math.max(0, first - 1)]),
    ...predict.slice(0, 1).map(({ cell }) =>
      stage(
        'predict',
        predict.every(({ done }) => done),
        cell!
      )
    ),
    ...build.flatMap(({ cell }) => [
      stage('build', exercise !== null && exercise.state !== 'not_started', cell!),
      stage('check', exercise?.state === 'passed', cell!)
    ]),
    ...after.slice(0, 1).map(({ cell }) =>
      stage(
        'compare',
        after.every(({ done }) => done),
        cell!
      )
    )
  ];
  const current = stages.findIndex(({ done }) => !done);
  return stages.map((one, i) => ({ ...one, current: i === current }));
}
