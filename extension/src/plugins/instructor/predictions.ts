/** The predictions of a class: a bar for each answer, live or as a replay. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import { saveFile } from '../../widgets/file';

export interface IQuestion {
  readonly kind: 'number' | 'numbers' | 'shape' | 'choice' | 'mask';
  readonly label: string;
  readonly options?: readonly string[];
  readonly columns?: readonly string[];
}

export interface IPrediction {
  readonly name: string;
  readonly questions: readonly IQuestion[];
  /** The observed values, one for each question, if anyone has run the cell below. */
  readonly observed: readonly unknown[] | null;
  /** The answers with student and time, oldest first; null if the student skipped the prediction. */
  readonly by: readonly {
    student: string;
    at: string;
    answers: readonly unknown[] | null;
    /** The answers of a second vote, after the class has talked. */
    again?: readonly unknown[];
    /** How sure the student was, in percent, where the course asks. */
    sure?: number;
  }[];
  /** Of those who said how sure they were: the mean of that and the share that was right, in percent. */
  readonly calibration?: ICalibration | null;
}

interface ICalibration {
  readonly students: number;
  readonly sure: number;
  readonly right: number;
}

/** What surprised the class: predictions of which it was surer than right, the greatest difference first. */
export function surprises(found: readonly IPrediction[]): (IPrediction & { calibration: ICalibration })[] {
  return found
    .filter((one): one is IPrediction & { calibration: ICalibration } => !!one.calibration)
    .filter(({ calibration }) => calibration.sure > calibration.right)
    .sort((a, b) => b.calibration.sure - b.calibration.right - (a.calibration.sure - a.calibration.right));
}

const quoted = (value: string | number | undefined): string => {
  const text = String(value ?? '');
  return `"${(/^[=+@\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text).replace(/"/g, '""')}"`;
};

/** The predictions as a table in CSV: a row for each answer of either vote to a question, none of them folded into
 * another, with how many gave it and how the class did. */
export function asTable(found: readonly IPrediction[]): string {
  const head = ['prediction', 'question', 'answer', 'students', 'after_talking', 'came_out', 'mean_sure', 'mean_right'];
  const rows = found.flatMap(one =>
    one.questions.flatMap(({ label }, place) => {
      const again = new Map(counted(one, place, one.by.length, 'again').map(bar => [bar.answer, bar]));
      const first = counted(one, place);
      const only = [...again.values()].filter(({ answer }) => !first.some(bar => bar.answer === answer));
      const all = [...first, ...only.map(bar => ({ ...bar, students: [] }))];
      return all
        .sort((a, b) => order(one.questions[place], a, b))
        .map(({ answer, students, observed }) => [
          ...[one.name, label, answer, students.length, again.get(answer)?.students.length ?? 0, observed ? 1 : 0],
          ...[one.calibration?.sure, one.calibration?.right]
        ]);
    })
  );
  return [head, ...rows].map(row => row.map(quoted).join(',')).join('\r\n') + '\r\n';
}

export interface IBar {
  readonly answer: string;
  readonly students: readonly string[];
  readonly observed: boolean;
}

const MOST_SURPRISES = 5;
const MAX_BARS = 12; // of a question; rarer answers share the last one

const asText = ({ kind }: IQuestion, value: unknown): string => {
  if (kind === 'mask') {
    return (value as boolean[][]).map(row => row.map(cell => (cell ? '■' : '□')).join('')).join(' ');
  }
  const list = (Array.isArray(value) ? value : [value]).map(one =>
    typeof one === 'number' && !Number.isInteger(one) ? String(+one.toPrecision(3)) : String(one)
  );
  return kind === 'choice' ? list.join(', ') || '∅' : kind === 'number' ? list[0] : `[${list.join(', ')}]`;
};

const order = (question: IQuestion, a: IBar, b: IBar): number => {
  if (question.kind === 'number') {
    return Number(a.answer) - Number(b.answer);
  }
  const options = question.options ?? [];
  const [i, j] = [options.indexOf(a.answer), options.indexOf(b.answer)];
  return i >= 0 && j >= 0 ? i - j : b.students.length - a.students.length;
};

type Vote = 'answers' | 'again';

/** A bar for each answer to one question among the first `upto` of a class, however many there are, in no order. */
function counted(prediction: IPrediction, place: number, upto = prediction.by.length, vote: Vote = 'answers'): IBar[] {
  const question = prediction.questions[place];
  const found = new Map<string, string[]>((question.options ?? []).map(option => [option, []]));
  for (const { student, [vote]: answers } of prediction.by.slice(0, upto)) {
    if (answers) {
      const answer = asText(question, answers[place]);
      found.set(answer, [...(found.get(answer) ?? []), student]);
    }
  }
  const right = prediction.observed ? asText(question, prediction.observed[place]) : null;
  return [...found].map(([answer, students]) => ({ answer, students, observed: answer === right }));
}

/** The bars of one question over the first `upto` answers of a class; numbers from small to large, options in their order. */
export function bars(
  prediction: IPrediction,
  place: number,
  upto = prediction.by.length,
  vote: Vote = 'answers'
): IBar[] {
  const question = prediction.questions[place];
  const all = counted(prediction, place, upto, vote);
  const kept = all.sort((a, b) => b.students.length - a.students.length).slice(0, MAX_BARS);
  const rest = all.slice(MAX_BARS).flatMap(({ students }) => students);
  return [
    ...kept.sort((a, b) => order(question, a, b)),
    ...(rest.length ? [{ answer: '…', students: rest, observed: false }] : [])
  ];
}

/** How many of those who voted twice gave another answer, and how many had it as it came out, before and after. */
function change(prediction: IPrediction, place: number, upto: number, trans: TranslationBundle): string {
  const question = prediction.questions[place];
  const pairs = prediction.by
    .slice(0, upto)
    .filter(({ answers, again }) => answers && again)
    .map(({ answers, again }) => [asText(question, answers![place]), asText(question, again![place])]);
  const other = pairs.filter(([first, second]) => first !== second).length;
  const said = trans.__('Other answer after talking: %1 of %2', other, pairs.length);
  if (!prediction.observed) {
    return said;
  }
  const right = asText(question, prediction.observed[place]);
  const [before, after] = [0, 1].map(vote => pairs.filter(pair => pair[vote] === right).length);
  return `${said} · ${trans.__('As it came out: first %1, then %2', before, after)}`;
}

/** One prediction of a class; `names`: whether students are named. */
export function histogram(
  prediction: IPrediction,
  upto: number,
  names: boolean,
  trans: TranslationBundle
): HTMLElement[] {
  const passed = prediction.by.slice(0, upto).filter(({ answers }) => !answers).length;
  const most = Math.max(
    1,
    ...prediction.questions.flatMap((_, i) =>
      (['answers', 'again'] as const).flatMap(vote =>
        bars(prediction, i, prediction.by.length, vote).map(({ students }) => students.length)
      )
    )
  );
  const table = (i: number, vote: Vote, caption: string): HTMLElement => {
    const rows = bars(prediction, i, upto, vote).map(({ answer, students, observed }) => {
      const bar = h('span', {
        className: `tfkit-Bar${observed ? ' tfkit-came-out' : ''}`,
        style: `width:${(100 * students.length) / most}%`
      });
      bar.setAttribute('aria-hidden', 'true');
      const who = names && students.length ? [h('small', {}, students.join(', '))] : [];
      const label = observed ? `${answer} ✓` : answer;
      return h('tr', {}, h('th', { scope: 'row' }, label), h('td', {}, bar, ' ', String(students.length), ...who));
    });
    return h('table', { className: 'tfkit-Bars' }, h('caption', {}, caption), h('tbody', {}, ...rows));
  };
  const twice = prediction.by.slice(0, upto).some(({ again }) => again);
  const blocks = prediction.questions.flatMap(({ label }, i) =>
    twice
      ? [
          h('p', { className: 'tfkit-Votes-question' }, label),
          h(
            'div',
            { className: 'tfkit-Votes' },
            table(i, 'answers', trans.__('Alone')),
            table(i, 'again', trans.__('After talking'))
          ),
          h('p', {}, change(prediction, i, upto, trans))
        ]
      : [table(i, 'answers', label)]
  );
  const note = passed ? [h('p', {}, trans._n('%1 passed', '%1 passed', passed))] : [];
  const { calibration } = prediction;
  const sure = calibration
    ? [
        h(
          'p',
          { className: 'tfkit-Sure' },
          trans.__(
            'How sure, on the mean: %1 % · right: %2 % · who said so: %3',
            calibration.sure,
            calibration.right,
            calibration.students
          )
        )
      ]
    : [];
  return [...blocks, ...note, ...sure];
}

/** The section of the class panel, with controls for the prediction and the replay. */
export class Predictions {
  readonly node = h('section', { className: 'tfkit-Predictions tfkit-Pane' });

  constructor(private readonly _trans: TranslationBundle) {
    this.node.setAttribute('aria-label', _trans.__('Predictions'));
    this._which.onchange = () => this._draw();
    this._upto.oninput = () => {
      this._live = Number(this._upto.value) >= Number(this._upto.max);
      this._bars();
    };
    this._upto.setAttribute('aria-label', _trans.__('Answers so far'));
    this._replayButton.textContent = _trans.__('Replay');
    this._replayButton.onclick = () => this._replay();
    const save = h('button', { type: 'button' }, _trans.__('Save as CSV'));
    save.onclick = () => saveFile('predictions.csv', asTable(this._found), 'text/csv');
    const bar = h('div', { className: 'tfkit-Predictions-bar' }, this._replayButton, this._upto, this._count, save);
    this.node.append(
      h('h3', {}, _trans.__('Predictions')),
      h('label', {}, h('span', { className: 'tfkit-Hidden' }, _trans.__('Prediction')), this._which),
      bar,
      this._body,
      this._surprising
    );
  }

  /** Shows the predictions of a class; `names`: whether students are named. */
  show(found: readonly IPrediction[], names: boolean): void {
    this.node.hidden = !found.length;
    this._names = names;
    const before =
      this._which.value ||
      [...found].sort((a, b) => (b.by[b.by.length - 1]?.at ?? '').localeCompare(a.by[a.by.length - 1]?.at ?? ''))[0]
        ?.name;
    this._found = found;
    this._which.replaceChildren(
      ...found.map(({ name, questions }) => h('option', { value: name }, questions[0]?.label ?? name))
    );
    this._surprised();
    this._which.value = found.some(({ name }) => name === before) ? before : (found[0]?.name ?? '');
    this._draw();
  }

  dispose(): void {
    window.clearInterval(this._timer);
  }

  private _draw(): void {
    const size = this._shown?.by.length ?? 0;
    this._upto.max = String(size);
    if (this._live) {
      this._upto.value = String(size);
    }
    this._bars();
  }

  private _bars(): void {
    const upto = Number(this._upto.value);
    const shown = this._shown;
    this._count.textContent = shown ? this._trans.__('%1 of %2', upto, shown.by.length) : '';
    this._body.replaceChildren(...(shown ? this._drawn(shown, upto) : []));
  }

  /** The histogram; a line instead for a prediction that cannot be drawn, so that the pane still shows the others. */
  private _drawn(shown: IPrediction, upto: number): HTMLElement[] {
    try {
      return histogram(shown, upto, this._names, this._trans);
    } catch (error) {
      console.error(`the prediction ${shown.name} cannot be drawn`, error);
      return [h('p', {}, this._trans.__('This prediction cannot be drawn: choose another one.'))];
    }
  }

  /** The predictions that surprised the class, each of which can be chosen. */
  private _surprised(): void {
    const found = surprises(this._found).slice(0, MOST_SURPRISES);
    const items = found.map(({ name, questions, calibration: { sure, right } }) => {
      const choose = h('button', { type: 'button' }, questions[0]?.label ?? name);
      choose.onclick = () => {
        this._which.value = name;
        this._draw();
      };
      return h('li', {}, choose, ' ', this._trans.__('%1 % sure, %2 % right', sure, right));
    });
    const title = h('h4', {}, this._trans.__('What surprised the class'));
    this._surprising.replaceChildren(...(items.length ? [title, h('ol', {}, ...items)] : []));
  }

  private _replay(): void {
    this.dispose();
    this._live = false;
    this._upto.value = '0';
    this._bars();
    this._timer = window.setInterval(() => {
      this._upto.value = String(Number(this._upto.value) + 1);
      this._live = Number(this._upto.value) >= Number(this._upto.max);
      this._bars();
      if (this._live) {
        this.dispose();
      }
    }, 400);
  }

  private get _shown(): IPrediction | undefined {
    return this._found.find(({ name }) => name === this._which.value);
  }

  private _found: readonly IPrediction[] = [];
  private _live = true; // whether new answers are shown as they come
  private _timer = 0;
  private readonly _which = h('select');
  private _names = false;
  private readonly _upto = h('input', { type: 'range', min: '0' });
  private readonly _replayButton = h('button', { type: 'button' });
  private readonly _count = h('span');
  private readonly _body = h('div');
  private readonly _surprising = h('div', { className: 'tfkit-Surprises' });
}
