/** The class at this moment: for each exercise how many have passed, try and are stuck, and what holds them; and who works on what. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h, tableHead } from '../../widgets/dom';
import { IMistake, ShowToAll, spoken } from './words';

export interface ILiveExercise {
  readonly exercise: string;
  readonly title: string;
  readonly passed: number;
  /** Those who have checked it, have not passed, and are not stuck. */
  readonly tried: number;
  readonly stuck: number;
  /** Those who checked it last. */
  readonly here: number;
  readonly commonest: readonly IMistake[];
}

/** What somebody who is there checked last. */
export interface IPerson {
  /** The name, where names were asked for. */
  readonly student: string | null;
  readonly exercise: string;
  readonly status: string;
  /** How many checks have failed in a row, and for how many minutes. */
  readonly failed: number;
  readonly minutes: number;
  /** How many minutes ago the last check was. */
  readonly ago: number;
  readonly stuck: boolean;
  readonly misconceptions: readonly string[];
}

export interface ILive {
  readonly students: number;
  /** Those who have checked something lately. */
  readonly active: number;
  readonly stuck: number;
  readonly exercises: readonly ILiveExercise[];
  /** Everybody who is active, those who are stuck first. */
  readonly people: readonly IPerson[];
  /** Whether the server has a shared folder that collects the outcomes of the class. */
  readonly shared: boolean;
}

const KINDS = ['passed', 'tried', 'stuck'] as const;

/** How many students have each outcome; one that is left out has no part in a bar. */
type Outcomes = Readonly<Partial<Record<(typeof KINDS)[number], number>>>;

/** A bar with a part for each outcome, of so many students. */
export function outcomeBar(outcomes: Outcomes, students: number): HTMLElement {
  const bar = h('span', { className: 'tfkit-Live-bar', 'aria-hidden': 'true' });
  for (const kind of KINDS.filter(one => outcomes[one] !== undefined)) {
    const part = h('span', { className: `tfkit-mod-${kind}` });
    part.style.width = `${(100 * (outcomes[kind] ?? 0)) / Math.max(1, students)}%`;
    bar.append(part);
  }
  return bar;
}

/** The sections of the class page, redrawn when something has changed; their inputs keep their values. */
export class LiveClass {
  readonly node = h('section', { className: 'tfkit-Live tfkit-Pane' });
  readonly people = h('section', { className: 'tfkit-People tfkit-Pane' });
  /** How many are there, and how many of them are stuck: for the head of the page. */
  readonly facts = h('p', { className: 'tfkit-Class-facts', role: 'status' });

  constructor(
    private readonly _trans: TranslationBundle,
    changed: () => void,
    private readonly _show: ShowToAll
  ) {
    this.node.setAttribute('aria-label', _trans.__('Now'));
    this.people.setAttribute('aria-label', _trans.__('Who works on what'));
    for (const input of [this._checks, this._minutes]) {
      input.onchange = changed;
    }
    const rule = h('p', { className: 'tfkit-Live-rule' });
    rule.append(
      h('label', {}, _trans.__('Stuck: failing checks'), ' ', this._checks),
      ' ',
      h('label', {}, _trans.__('for minutes'), ' ', this._minutes)
    );
    const head = h('div', { className: 'tfkit-Pane-head' }, h('h3', {}, _trans.__('Where the class is')), rule);
    this.node.append(head, this._body);
    this._now.setAttribute('aria-label', _trans.__('Who works on what'));
    this.people.append(h('h3', {}, _trans.__('Who works on what')), this._now);
  }

  /** The query of the route, for students by name or by number alone. */
  query(names: boolean): string {
    const minutes = this._minutes.valueAsNumber >= 0 ? this._minutes.value : '10';
    const checks = this._checks.valueAsNumber >= 1 ? this._checks.value : '3';
    return `live?checks=${checks}&minutes=${minutes}${names ? '&names=1' : ''}`;
  }

  show(found: ILive): void {
    this.people.hidden = !found.shared || !found.active;
    this._head(found);
    const state = JSON.stringify([found.shared, found.students, found.exercises]);
    if (state !== this._shown) {
      this._shown = state;
      this._body.replaceChildren(...this._drawn(found));
    }
    const people = JSON.stringify(found.people);
    if (people !== this._peopleShown) {
      this._peopleShown = people;
      this._now.replaceChildren(this._atWork(found), this._persons(found));
    }
  }

  private _head({ shared, students, active, stuck }: ILive): void {
    const trans = this._trans;
    const facts = trans.__('%1 of %2 students have checked something in the last 45 minutes', active, students);
    const badge = stuck
      ? h('strong', { className: 'tfkit-Badge tfkit-mod-stuck' }, trans._n('%1 is stuck', '%1 are stuck', stuck))
      : h('strong', { className: 'tfkit-Badge tfkit-mod-well' }, trans.__('nobody is stuck'));
    const said = students ? [h('span', {}, facts), ' ', badge] : [];
    if (said.map(one => (typeof one === 'string' ? one : one.textContent)).join('') !== this.facts.textContent) {
      this.facts.replaceChildren(...said); // a status is read aloud when it changes
    }
    this.facts.hidden = !shared || !students;
  }

  private _drawn({ shared, students, exercises }: ILive): HTMLElement[] {
    if (exercises.length) {
      return [this._legend(), this._table(exercises, students)];
    }
    const trans = this._trans;
    const waits = trans.__('Students appear here as soon as they check an exercise.');
    const needs = trans.__('This needs a folder that the servers of all students can write to:');
    const how = h('pre', {}, 'export TFKIT_PREDICTIONS=/srv/course/predictions');
    const then = trans.__('Set it for every server, yours too. Submissions that were graded are below as always.');
    return [
      h(
        'p',
        { className: 'tfkit-Class-empty' },
        h('strong', {}, trans.__('Nobody has checked anything yet.')),
        ' ',
        waits
      ),
      ...(shared ? [] : [h('p', {}, needs), how, h('p', {}, then)])
    ];
  }

  private _legend(): HTMLElement {
    const words = { passed: this._trans.__('passed'), tried: this._trans.__('trying'), stuck: this._trans.__('stuck') };
    const keys = KINDS.map(kind =>
      h('span', {}, h('i', { className: `tfkit-Key tfkit-mod-${kind}`, 'aria-hidden': 'true' }), words[kind])
    );
    return h('p', { className: 'tfkit-Legend' }, ...keys);
  }

  private _table(exercises: readonly ILiveExercise[], students: number): HTMLElement {
    const trans = this._trans;
    const heads = [
      trans.__('Exercise'),
      trans._n('%1 student', '%1 students', students),
      trans.__('passed'),
      trans.__('trying'),
      trans.__('stuck'),
      trans.__('What holds them back')
    ];
    return h('table', {}, tableHead(heads), h('tbody', {}, ...exercises.map(one => this._row(one, students))));
  }

  private _row(one: ILiveExercise, students: number): HTMLElement {
    const cells = KINDS.map(kind =>
      h('td', { className: kind === 'stuck' && one.stuck ? 'tfkit-mod-stuck' : '' }, String(one[kind]))
    );
    const held = one.commonest.map(mistake => this._mistake(mistake, one.title));
    const why = h('td', { className: 'tfkit-Live-why' }, ...(held.length ? [h('ul', {}, ...held)] : []));
    const name = h('th', { scope: 'row', title: one.exercise }, one.title);
    const row = h('tr', {}, name, h('td', {}, outcomeBar(one, students)), ...cells, why);
    row.dataset.exercise = one.exercise;
    row.tabIndex = -1;
    return row;
  }

  private _mistake(mistake: IMistake, title: string): HTMLElement {
    const count = this._trans._n('%1 student', '%1 students', mistake.students);
    const text = h('span', {}, mistake.sentence, ' ', h('b', {}, count));
    if (!mistake.example.length) {
      return h('li', {}, text); // a name that the course does not know, and that a student may have written
    }
    const button = h('button', { type: 'button' }, this._trans.__('Show to all'));
    button.onclick = () => this._show(mistake, title);
    return h('li', {}, text, button);
  }

  /** How many are at each exercise. */
  private _atWork({ exercises, active }: ILive): HTMLElement {
    const at = exercises.filter(({ here }) => here).sort((a, b) => b.here - a.here);
    const rows = at.map(({ title, here }) => {
      const bar = h('span', { className: 'tfkit-Bar', 'aria-hidden': 'true' });
      bar.style.width = `${(100 * here) / Math.max(1, active)}%`;
      return h('tr', {}, h('th', { scope: 'row' }, title), h('td', {}, bar, ' ', String(here)));
    });
    return h('table', { className: 'tfkit-Bars' }, h('tbody', {}, ...rows));
  }

  private _persons({ people, exercises }: ILive): HTMLElement {
    const trans = this._trans;
    const titles = new Map(exercises.map(({ exercise, title }) => [exercise, title]));
    const words = new Map(
      exercises.flatMap(one => one.commonest.map(({ misconception, sentence }) => [misconception, sentence]))
    );
    const named = people.some(({ student }) => student);
    const rows = people.map(one => {
      const tries = trans.__('%1 checks failed in %2 min', one.failed, one.minutes);
      const why = one.misconceptions.map(name => words.get(name) ?? spoken(name)).join(' ');
      const state =
        one.status === 'passed' ? trans.__('passed') : one.failed ? tries : trans.__('could not be checked');
      const badge = one.stuck
        ? [' ', h('strong', { className: 'tfkit-Badge tfkit-mod-stuck' }, trans.__('stuck now'))]
        : [];
      const did = h('span', {}, state, ...badge, ...(why && one.failed ? [h('small', {}, why)] : []));
      const ago = one.ago ? trans.__('%1 min ago', one.ago) : trans.__('just now');
      const cells = [titles.get(one.exercise) ?? one.exercise, did, ago].map(part => h('td', {}, part));
      return h('tr', {}, ...(named ? [h('th', { scope: 'row' }, one.student ?? '')] : []), ...cells);
    });
    const heads = [trans.__('Exercise'), trans.__('State'), trans.__('Last check')];
    return h(
      'table',
      { className: 'tfkit-Persons' },
      tableHead([...(named ? [trans.__('Student')] : []), ...heads]),
      h('tbody', {}, ...rows)
    );
  }

  private _shown = '';
  private _peopleShown = '';
  private readonly _checks = h('input', { type: 'number', min: '1', value: '3' });
  private readonly _minutes = h('input', { type: 'number', min: '0', value: '10' });
  private readonly _body = h('div', {});
  private readonly _now = h('div', { className: 'tfkit-Scroll', tabIndex: 0, role: 'group' });
}
