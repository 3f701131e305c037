/** The course's home page: where to continue, progress, due dates, a search, and the units as a path of pictures. */
import { searchIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { writtenIn } from '../../shared/language';
import { courseIcon, stateIcons } from '../../shared/icons';
import { isLate, nameOf, targetOf, unitsOf } from '../../shared/nextStep';
import { stateName } from '../../shared/states';
import type { ICourse, IExercise, IUnit } from '../../shared/tokens';
import { h, svg } from '../../widgets/dom';
import { leaderboards } from '../../shared/leaderboard';
import {
  comingDue,
  isFinished,
  SearchResult,
  IResumePoint,
  minutesLeft,
  search,
  splitTitle,
  resumePoint,
  tallyOf
} from './journey';
import { hatch, motif } from './motifs';
import { ownModel } from './ownModel';
import { recallPart } from './recall';
import { Tour, tourSteps } from './tour';
import { trackChoice } from './tracks';

/** Opens a notebook, at an exercise or at the cell with an id where one is given. */
export type Navigate = (to: { path: string; exercise?: string; cell?: string }) => void;

const GLOSSARY = 'glossary'; // the id that the build gives to the cell with the glossary of a unit
const RADIUS = 31;

export class HomePage extends Widget {
  constructor(
    private readonly _course: ICourse,
    private readonly _trans: TranslationBundle,
    private readonly _go: Navigate
  ) {
    super();
    this.id = 'tfkit-home';
    this.title.label = _trans.__('Course: Home');
    this.title.icon = courseIcon;
    this.title.closable = true;
    this.addClass('tfkit-Home');
    this.node.tabIndex = -1;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('Course: Home'));
    this.node.append(
      hatch(),
      h(
        'div',
        { className: 'tfkit-Home-page' },
        this._top,
        this._recall,
        this._model,
        this._find(),
        this._found,
        this._path,
        this._boards
      )
    );
    _course.changed.connect(this._draw, this);
    this._draw();
  }

  /** Offers the tour at the top of the page; `ended` is called when it is over or declined. */
  showTour(ended: () => void): void {
    this._tour?.node.remove();
    const place = (card: HTMLElement, offered: boolean): void =>
      offered ? this._top.before(card) : this._boards.after(card);
    const over = (): void => {
      this._tour = null;
      ended();
    };
    this._tour = new Tour(tourSteps(this._trans), this._trans, over, place);
    place(this._tour.node, true);
    this._draw();
  }

  /** Keeps the focus, if the same control exists after the redraw. */
  private _draw(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.key;
    const { units: all, error } = this._course;
    const units = unitsOf(this._course);
    this._top.replaceChildren(
      h('h1', {}, this._trans.__('Course')),
      ...(error ? [h('p', { role: 'alert' }, error)] : this._hero(units))
    );
    const here = resumePoint(units)?.unit;
    const cards = units.map(unit => h('li', {}, this._card(unit, unit === here)));
    const choice = trackChoice(all, this._course.track?.name ?? '', this._trans, name =>
      this._course.chooseTrack(name)
    );
    const boards = units.flatMap(({ leaderboard }) => (leaderboard ? [leaderboard] : []));
    this._path.replaceChildren(h('h2', {}, this._trans.__('Units')), ...choice, h('ol', {}, ...cards));
    this._recall.replaceChildren(...(error ? [] : recallPart(this._course.recall, units, here, this._trans, this._go)));
    this._model.replaceChildren(...(error ? [] : ownModel(this._course.model, all, units, this._trans, this._go)));
    this._boards.replaceChildren(...leaderboards(boards, this._trans));
    this._box.hidden = this._path.hidden = this._boards.hidden = !units.length || error !== null;
    this._showFound();
    if (this._tour) {
      this._tour.node.hidden = !units.length || error !== null;
      this._tour.mark();
    }
    if (focused) {
      this.node.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  private _hero(units: readonly IUnit[]): HTMLElement[] {
    if (!units.length) {
      return [h('p', {}, this._trans.__('No course notebooks were found in the folder this server shows.'))];
    }
    const stop = resumePoint(units);
    const project = units.find(unit => unit.project);
    const first = stop ? this._resume(stop) : project ? this._toProject(project) : this._allPassed();
    return [h('div', { className: 'tfkit-Hero' }, first, this._progress(units))];
  }

  private _allPassed(): HTMLElement {
    const words = h('div', {}, h('h2', {}, this._trans.__('Every exercise is passed.')));
    return h('section', { className: 'tfkit-Resume tfkit-mod-alone' }, words);
  }

  /** What to do when all exercises are passed and the course ends with a project. */
  private _toProject(unit: IUnit): HTMLElement {
    const facts = [this._trans.__('Every exercise is passed.'), ...this._worth(unit)];
    return this._ahead(unit, splitTitle(unit.title)[1], facts, this._trans.__('Open the project'), {
      path: unit.path,
      cell: unit.project!.cell
    });
  }

  /** The step to go on with. */
  private _resume(stop: IResumePoint): HTMLElement {
    const { unit, exercise, started } = stop;
    const words = started ? this._trans.__('Continue where you stopped') : this._trans.__('Start the course');
    const left = minutesLeft(unit);
    const facts = [
      exercise ? this._placeOf(exercise, unit) : unit.title,
      ...(!exercise || exercise.state === 'not_started' ? [] : [stateName(exercise.state, this._trans)]),
      ...(left ? [this._trans.__('about %1 minutes left in this unit', left)] : [])
    ];
    // a course starts at the top of its first notebook: there are the introduction and the cell with the imports
    const to = started ? targetOf(stop) : { path: unit.path };
    return this._ahead(unit, nameOf(stop, this._trans), facts, words, to);
  }

  private _placeOf(exercise: IExercise, { exercises, title }: IUnit): string {
    return this._trans.__('Exercise %1 of %2 in %3', exercises.indexOf(exercise) + 1, exercises.length, title);
  }

  /** The next step, with the main button of the page. */
  private _ahead(unit: IUnit, title: string, facts: string[], words: string, to: Parameters<Navigate>[0]): HTMLElement {
    const button = h(
      'button',
      { type: 'button', className: 'tfkit-Continue' },
      words,
      h('span', { 'aria-hidden': 'true' }, ' →')
    );
    button.dataset.key = 'continue';
    button.onclick = () => this._go(to);
    const text = h(
      'div',
      {},
      h('h2', {}, title),
      h('p', { className: 'tfkit-Facts' }, facts.join(' · ')),
      h('p', {}, unit.about),
      button
    );
    return h(
      'section',
      { className: 'tfkit-Resume', 'aria-label': words },
      text,
      h('div', { className: 'tfkit-Picture' }, motif(unit.name))
    );
  }

  private _progress(units: readonly IUnit[]): HTMLElement {
    const { passed, exercises, earned, points } = tallyOf(units);
    const ring = h('div', { className: 'tfkit-Ring' }, this._ring(exercises ? passed / exercises : 0));
    const exercisesDone = h('strong', {}, this._trans.__('%1 of %2 exercises passed', passed, exercises));
    const predictions = units.map(unit => unit.predictions);
    const [asked, made] = [
      predictions.reduce((sum, one) => sum + one.asked, 0),
      predictions.reduce((sum, one) => sum + one.made, 0)
    ];
    const predicted = asked ? [h('br'), this._trans.__('%1 of %2 predictions', made, asked)] : [];
    ring.append(h('p', {}, exercisesDone, h('br'), this._trans.__('%1 of %2 points', earned, points), ...predicted));
    const due = comingDue(units).map(unit => {
      const [name, when] = [
        h('span', {}, unit.title),
        h(isLate(unit, new Date()) ? 'strong' : 'span', {}, this._due(unit))
      ];
      return h('li', {}, name, when);
    });
    const list = due.length ? [h('h3', {}, this._trans.__('To hand in')), h('ul', {}, ...due)] : [];
    return h('section', { className: 'tfkit-Tally', 'aria-label': this._trans.__('Progress') }, ring, ...list);
  }

  private _ring(share: number): SVGElement {
    const round = 2 * Math.PI * RADIUS;
    const circle = { cx: 38, cy: 38, r: RADIUS, fill: 'none', 'stroke-width': 9 };
    const whole = svg('circle', { ...circle, stroke: 'var(--tfk-track)' });
    const done = svg('circle', {
      ...circle,
      stroke: 'var(--tfk-right)',
      'stroke-dasharray': `${share * round} ${round}`,
      transform: 'rotate(-90 38 38)'
    });
    const words = svg('text', { x: 38, y: 43, 'text-anchor': 'middle' }, `${Math.floor(100 * share)} %`);
    return svg(
      'svg',
      { viewBox: '0 0 76 76', width: 76, height: 76, 'aria-hidden': 'true', focusable: 'false' },
      whole,
      ...(share ? [done] : []),
      words
    );
  }

  private _due(unit: IUnit): string {
    const date = new Date(unit.due!).toLocaleDateString(writtenIn(), { day: 'numeric', month: 'short' });
    return isLate(unit, new Date()) ? this._trans.__('was due %1', date) : this._trans.__('due %1', date);
  }

  /** A unit as one button: it opens at the exercise to do next, or at the top where none has been begun. */
  private _card(unit: IUnit, here: boolean): HTMLElement {
    const [number, name] = splitTitle(unit.title);
    const next = resumePoint([unit]);
    const done = isFinished(unit);
    const mark = done ? this._trans.__('✓ done') : here ? this._trans.__('you are here') : null;
    const card = h('button', {
      type: 'button',
      className: `tfkit-Card${done ? ' tfkit-done' : here ? ' tfkit-here' : ''}`
    });
    card.dataset.key = unit.path;
    const begun = unit.exercises.some(({ state }) => state !== 'not_started');
    card.onclick = () => this._go(begun && next ? targetOf(next) : { path: unit.path });
    const picture = h('span', { className: 'tfkit-Picture' }, motif(unit.name));
    const title = h(
      'span',
      { className: 'tfkit-Card-title' },
      ...(number ? [h('span', { className: 'tfkit-Number' }, number), ' '] : []),
      name
    );
    card.append(
      picture,
      ...(mark ? [h('span', { className: 'tfkit-Chip' }, mark)] : []),
      title,
      h('span', { className: 'tfkit-About' }, unit.about),
      this._meta(unit, done)
    );
    return card;
  }

  private _meta(unit: IUnit, done: boolean): HTMLElement {
    const states = unit.exercises.map(({ state }) =>
      stateIcons[state].element({ tag: 'span', className: `tfkit-State tfkit-${state}` })
    );
    const { passed, exercises, earned, points } = tallyOf([unit]);
    const dots = h('span', { className: 'tfkit-Dots', 'aria-hidden': 'true' }, ...states);
    const said = h(
      'span',
      { className: 'tfkit-Hidden' },
      this._trans.__('%1 of %2 exercises passed', passed, exercises)
    );
    const minutes = unit.minutes && !done ? [this._trans.__('%1 min', unit.minutes)] : [];
    const due = unit.due && !done ? [this._due(unit)] : [];
    const { asked, made } = unit.predictions;
    const predicted = asked ? [this._trans.__('%1 of %2 predictions', made, asked)] : [];
    const score = exercises ? [this._trans.__('%1 of %2 points', earned, points)] : [];
    const facts = [...score, ...this._worth(unit), ...predicted, ...minutes, ...due];
    return h(
      'span',
      { className: 'tfkit-Meta' },
      ...(exercises ? [dots, said] : []),
      h('span', {}, facts.map(fact => fact.replace(/ /g, '\u00a0')).join(' · '))
    );
  }

  /** The points of a project, and the best result of the class. */
  private _worth({ project, leaderboard }: IUnit): string[] {
    if (!project) {
      return [];
    }
    const points = project.points
      ? this._trans._n('a project for %1 point', 'a project for %1 points', project.points)
      : this._trans.__('a project');
    const best = leaderboard?.rows[0];
    return [points, ...(best ? [this._trans.__('best so far %1 bits above the entropy', best.excess.toFixed(3))] : [])];
  }

  // ------------------------------------------------------------------ the search

  private _find(): HTMLElement {
    this._input.placeholder = this._trans.__('Search units, exercises, words');
    this._input.setAttribute('aria-label', this._input.placeholder);
    this._input.dataset.key = 'search';
    this._input.oninput = () => this._showFound();
    this._input.onkeydown = event => {
      const first = this._found.querySelector<HTMLElement>('button');
      if (event.key === 'Escape' && this._input.value) {
        this._input.value = '';
        this._showFound();
      } else if (event.key === 'Enter') {
        first?.click();
      } else if (event.key === 'ArrowDown') {
        first?.focus();
        event.preventDefault();
      }
    };
    const lens = searchIcon.element({ tag: 'span', className: 'tfkit-Lens' });
    lens.setAttribute('aria-hidden', 'true');
    this._box.append(lens, this._input);
    return this._box;
  }

  private _showFound(): void {
    const query = this._input.value.trim();
    const found = search(this._course.units, query);
    const said = found.length
      ? this._trans._n('%1 result', '%1 results', found.length)
      : this._trans.__('Nothing has “%1” in its name.', query);
    this._count.textContent = query ? said : '';
    const list = h('ul', {}, ...found.map((one, i) => h('li', {}, this._result(one, i))));
    this._found.replaceChildren(this._count, ...(found.length ? [list] : []));
  }

  private _result(found: SearchResult, place: number): HTMLElement {
    const { path, title } = found.unit;
    const words = {
      unit: () => [this._trans.__('Unit'), title, ''],
      exercise: () => [this._trans.__('Exercise'), found.kind === 'exercise' ? found.exercise.title : '', title],
      term: () => [
        this._trans.__('Word'),
        found.kind === 'term' ? found.term.word : '',
        found.kind === 'term' ? found.term.means : ''
      ]
    }[found.kind]();
    const [kind, name, more] = words;
    const button = h('button', { type: 'button', className: 'tfkit-Result' });
    button.dataset.key = `result ${place}`;
    button.append(h('span', { className: 'tfkit-Kind' }, kind), ' ', h('strong', {}, name), ' ', h('span', {}, more));
    const to = {
      unit: {},
      exercise: { exercise: found.kind === 'exercise' ? found.exercise.id : undefined },
      term: { cell: GLOSSARY }
    };
    button.onclick = () => this._go({ path, ...to[found.kind] });
    return button;
  }

  private _tour: Tour | null = null;
  private readonly _top = h('div', { className: 'tfkit-Top' });
  private readonly _recall = h('div', {});
  private readonly _model = h('div', {});
  private readonly _box = h('div', { className: 'tfkit-Find', role: 'search' });
  private readonly _input = h('input', { type: 'search' });
  private readonly _count = h('p', { role: 'status' });
  private readonly _found = h('div', { className: 'tfkit-Found' });
  private readonly _path = h('nav', { className: 'tfkit-Path' });
  private readonly _boards = h('div', { className: 'tfkit-Boards' });
}
