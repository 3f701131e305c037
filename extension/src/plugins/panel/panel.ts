/** The panel's widget: what comes next, and the units with the state of each exercise. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { writtenIn } from '../../shared/language';
import { courseIcon, stateIcons } from '../../shared/icons';
import { isLate, nameOf, nextIn, targetOf, unitsOf } from '../../shared/nextStep';
import { stateName } from '../../shared/states';
import { ICourse, IExercise, IUnit } from '../../shared/tokens';
import { h } from '../../widgets/dom';

/** Opens a notebook, at an exercise or at the cell with an id where one is given. */
export type Open = (to: { path: string; exercise?: string; cell?: string }) => void;

/** The panel's settings. */
export interface IShown {
  dueDates: boolean;
  hidePassed: boolean;
}

export class CoursePanel extends Widget {
  constructor(
    private readonly _course: ICourse,
    private readonly _trans: TranslationBundle,
    private readonly _open: Open,
    private readonly _home: () => void
  ) {
    super();
    this.id = 'tfkit-course';
    this.title.icon = courseIcon;
    this.title.caption = _trans.__('Course');
    this.addClass('tfkit-Course');
    this.node.tabIndex = -1;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('Course'));
    _course.changed.connect(this._draw, this);
    this._draw();
  }

  /** The reader's current exercise; between exercises it stays the last one. */
  set here(exercise: string | null) {
    if (exercise && exercise !== this._here) {
      this._here = exercise;
      this._draw();
    }
  }

  set shown(shown: IShown) {
    this._shown = shown;
    this._draw();
  }

  protected onAfterShow(): void {
    void this._course.refresh();
  }

  /** Moves the focus to the panel when a command shows it. */
  protected onActivateRequest(): void {
    (this.node.querySelector<HTMLElement>('.tfkit-Next') ?? this.node).focus();
  }

  private _draw(): void {
    const { units, error } = this._course;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.exercise;
    const onNext = !!this.node.querySelector('.tfkit-Next:focus');
    const refresh = h('button', { type: 'button', className: 'tfkit-Refresh' }, this._trans.__('Refresh'));
    refresh.onclick = () => void this._course.refresh();
    const home = h('button', { type: 'button', className: 'tfkit-ToHome' }, this._trans.__('Home'));
    home.onclick = () => this._home();
    const buttons = h('span', { className: 'tfkit-Course-buttons' }, home, refresh);
    const header = h('div', { className: 'tfkit-Course-header' }, h('h2', {}, this._trans.__('Course')), buttons);
    const listed = error
      ? [h('p', { role: 'alert' }, error)]
      : [...this._next(), ...unitsOf(this._course).map(unit => this._unit(unit)), ...this._others()];
    this.node.replaceChildren(header, ...listed);
    if (!error && !units.length) {
      this.node.append(h('p', {}, this._trans.__('No course notebooks were found in the folder this server shows.')));
    }
    if (onNext) {
      this.onActivateRequest();
    } else if (focused) {
      this.node.querySelector<HTMLElement>(`[data-exercise="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  /** The units that the chosen track leaves out, folded: they are there to look up. */
  private _others(): HTMLElement[] {
    const own = unitsOf(this._course);
    const others = this._course.units.filter(unit => !own.includes(unit));
    if (!others.length) {
      return [];
    }
    const words = this._trans._n('%1 unit outside the track', '%1 units outside the track', others.length);
    const folded = h('details', { className: 'tfkit-Others', open: this._unfolded }, h('summary', {}, words));
    folded.ontoggle = () => (this._unfolded = folded.open);
    folded.append(...others.map(unit => this._unit(unit)));
    return [folded];
  }

  private _next(): HTMLElement[] {
    const next = nextIn(this._course, this._here);
    if (!next) {
      return [];
    }
    const words = this._trans.__('Next: %1', `${nameOf(next, this._trans)} (${next.unit.title})`);
    const button = h('button', { type: 'button', className: 'tfkit-Next' }, words);
    button.onclick = () => this._open(targetOf(next));
    return [h('p', {}, button)];
  }

  /** The due date in words, marked if the unit is late. */
  private _due(unit: IUnit): HTMLElement[] {
    if (!unit.due || !this._shown.dueDates) {
      return [];
    }
    const date = new Date(unit.due).toLocaleString(writtenIn(), { dateStyle: 'medium', timeStyle: 'short' });
    const late = isLate(unit, new Date());
    const words = late ? this._trans.__('was due %1', date) : this._trans.__('due %1', date);
    return [h('p', { className: late ? 'tfkit-Due tfkit-late' : 'tfkit-Due' }, h(late ? 'strong' : 'span', {}, words))];
  }

  private _unit(unit: IUnit): HTMLElement {
    const done = unit.exercises.filter(exercise => exercise.state === 'passed').length;
    const count = unit.exercises.length
      ? [' ', h('small', {}, this._trans.__('%1 of %2', done, unit.exercises.length))]
      : [];
    const heading = h('h3', {}, unit.title, ...count);
    const wanted = unit.exercises.filter(exercise => !this._shown.hidePassed || exercise.state !== 'passed');
    const entries = wanted.map(exercise => this._exercise(unit, exercise));
    const list = h('ul', {}, ...[...entries, ...this._project(unit)].map(entry => h('li', {}, entry)));
    return h('section', { 'aria-label': unit.title }, heading, ...this._due(unit), list);
  }

  private _project({ path, project }: IUnit): HTMLElement[] {
    if (!project) {
      return [];
    }
    const points = project.points ? this._trans._n('%1 point', '%1 points', project.points) : '';
    const button = h('button', { type: 'button', className: 'tfkit-Exercise' });
    button.onclick = () => this._open({ path, cell: project.cell });
    button.append(h('span', {}, this._trans.__('Project')), h('span', { className: 'tfkit-StateName' }, points));
    return [button];
  }

  private _exercise(unit: IUnit, exercise: IExercise): HTMLElement {
    const button = h('button', {
      type: 'button',
      className: `tfkit-Exercise tfkit-${exercise.lost ? 'lost' : exercise.state}`,
      title: exercise.id
    });
    button.dataset.exercise = exercise.id;
    button.onclick = () => this._open({ path: unit.path, exercise: exercise.id });
    const icon = exercise.lost ? stateIcons.not_graded : stateIcons[exercise.state];
    const mark = icon.element({ tag: 'span', className: 'tfkit-State' });
    mark.setAttribute('aria-hidden', 'true');
    const state = exercise.lost ? this._trans.__('its cell is missing from the notebook') : this._said(exercise);
    const seen = exercise.state === 'not_started' && !exercise.lost ? 'tfkit-Hidden' : 'tfkit-StateName'; // the icon says it
    button.append(mark, h('span', {}, exercise.title), h('span', { className: seen }, state));
    return button;
  }

  /** The best state, which counts, and that of the last check where it was another one. */
  private _said({ state, last }: IExercise): string {
    const name = stateName(state, this._trans);
    return last && last !== state ? this._trans.__('%1 · last check: %2', name, stateName(last, this._trans)) : name;
  }

  private _here: string | null = null;
  private _unfolded = false;
  private _shown: IShown = { dueDates: true, hidePassed: false };
}
