/** The course as the server tells it, with the track that the student has chosen. */
import { ServerConnection } from '@jupyterlab/services';
import { ISignal, Signal } from '@lumino/signaling';
import { request } from '../../shared/server';
import { ICourse, IOwnModel, IRecall, ITrack, IUnit } from '../../shared/tokens';
import { offeredTracks, storedTrack, storeTrack } from '../../shared/tracks';
import { withRuns } from './experiments';

interface IAnswer {
  units: IUnit[];
  model?: IOwnModel | null;
  recall?: IRecall | null;
}

export class Course implements ICourse {
  constructor(private readonly _settings: ServerConnection.ISettings) {}

  get units(): readonly IUnit[] {
    return this._units;
  }

  get track(): ITrack | null {
    return offeredTracks(this._units).find(({ name }) => name === this._chosen) ?? null;
  }

  get model(): IOwnModel | null {
    return this._model;
  }

  get recall(): IRecall | null {
    return this._recall;
  }

  get error(): string | null {
    return this._error;
  }

  get changed(): ISignal<ICourse, void> {
    return this._changed;
  }

  async refresh(): Promise<void> {
    try {
      const { units, model, recall } = await request<IAnswer>(this._settings, 'course');
      this._units = units.map(unit => withRuns(unit, this._ran));
      this._model = model ?? null;
      this._recall = recall ?? null;
      this._error = null;
    } catch (error) {
      this._error = error instanceof Error ? error.message : String(error);
    }
    this._changed.emit();
  }

  chooseTrack(name: string): void {
    this._chosen = name;
    storeTrack(name);
    this._changed.emit();
  }

  /** Notes that a cell was run: an experiment is done then, which its file tells only once it is saved. */
  noteRun(cell: string): Promise<void> {
    this._ran.add(cell);
    return this.refresh();
  }

  async record(outcome: unknown): Promise<void> {
    await request(this._settings, 'progress', { method: 'POST', body: JSON.stringify(outcome) });
    await this.refresh();
  }

  private readonly _ran = new Set<string>(); // of all notebooks, as `placeOf` names them
  private _chosen = storedTrack();
  private _units: IUnit[] = [];
  private _model: IOwnModel | null = null;
  private _recall: IRecall | null = null;
  private _error: string | null = null;
  private readonly _changed = new Signal<ICourse, void>(this);
}
