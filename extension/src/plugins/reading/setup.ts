/** Runs the course's own set-up of a lesson in its kernel, and knows what has been run there. */
import type { Kernel } from '@jupyterlab/services';
import { runOnce, succeeds } from '../../shared/needed';

type Asked = Pick<Kernel.IKernelConnection, 'requestExecute'>;

/**
 * Python that lets cells wait for their predictions (tfkit_lab/unsealed.py), and binds no name. A prediction's own cell would do it, which reading mode does
 * not run.
 */
const PREDICTED = "__import__('tfkit_lab.predict')";

export interface ISetupCell {
  readonly id: string;
  readonly source: string;
}

/** How many set-up cells have not run in the kernel, and whether one has stopped with an error; `begun` is false while nothing was run. */
export interface ISetupState {
  readonly begun: boolean;
  readonly failed: boolean;
  readonly waiting: number;
}

export class SetupRuns {
  /** cells: of the set-up, in their order; own: the ids of those that are the course's, which alone are run here. */
  constructor(
    private readonly _cells: () => readonly ISetupCell[],
    private readonly _own: readonly string[],
    private readonly _told: (state: ISetupState) => void
  ) {}

  /** A kernel that is new, or was restarted, knows nothing of the set-up. */
  forget(): void {
    this._kernel += 1;
    this._pending = 0;
    this._sent.clear();
    this._done.clear();
    this._failed.clear();
    this._tell(!this._own.length);
  }

  /** Sends at once what the kernel has not been sent: what the reader runs next comes behind it. Ends when all of it has run. */
  async run(kernel: Asked): Promise<void> {
    const now = this._kernel;
    const wanted = this._cells().filter(({ id }) => this._own.includes(id) && !this._sent.has(id));
    this._pending += wanted.length;
    const runs = wanted.map(async cell => {
      this._sent.add(cell.id);
      const success = await succeeds(kernel, runOnce(cell.id, cell.source)).catch(() => false); // the kernel may go away
      if (now === this._kernel) {
        this._pending -= 1;
        this._note(cell.id, success);
      }
    });
    if (!this._sent.has(PREDICTED)) {
      this._sent.add(PREDICTED);
      void succeeds(kernel, PREDICTED).catch(() => false);
    }
    await Promise.all(runs);
    if (now === this._kernel && !this._pending) {
      this._tell(true);
    }
  }

  /** The reader has a cell run: of the set-up it need not be sent again, and before any other comes what is missing. */
  scheduled(id: string, kernel: Asked | null | undefined): void {
    if (this.has(id)) {
      this._sent.add(id);
    } else if (kernel) {
      void this.run(kernel);
    }
  }

  /** The reader has run a cell of the set-up. */
  ran(id: string, success: boolean): void {
    this._note(id, success);
    this._tell(true);
  }

  has(id: string): boolean {
    return this._cells().some(cell => cell.id === id);
  }

  private _note(id: string, success: boolean): void {
    (success ? this._done : this._failed).add(id);
    (success ? this._failed : this._done).delete(id);
  }

  private _tell(begun: boolean): void {
    const cells = this._cells();
    const waiting = cells.filter(({ id }) => !this._done.has(id)).length;
    this._told({ begun, waiting, failed: cells.some(({ id }) => this._failed.has(id)) });
  }

  private _kernel = 0; // which one it is: a reply from an earlier one says nothing
  private _pending = 0;
  private readonly _sent = new Set<string>(); // ids of cells, and PREDICTED
  private readonly _done = new Set<string>();
  private readonly _failed = new Set<string>();
}
