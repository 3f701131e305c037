/** The form of a prediction, answered once. Input is parsed here to report errors at once, and again by the kernel. */
import { h } from './dom';
import { IModel, IRenderProps } from './model';
import { translated } from './words';

export interface IQuestion {
  kind: 'number' | 'numbers' | 'shape' | 'choice' | 'mask';
  label: string;
  count?: number;
  options?: string[];
  several?: boolean;
  rows?: string[];
  columns?: string[];
}

/** One question on the page. `read` returns undefined until there is a valid answer. */
export interface IField {
  node: HTMLElement;
  /** A line below the field. */
  note?: HTMLElement;
  read(): unknown;
}

const NUMBER = /^[-+]?(\d+([.,]\d+)?|[.,]\d+)(e[-+]?\d+)?%?$/i;

/** Digits in groups of three, from the first on: the comma of 0,125 or of 1050,624 is a decimal one. */
const GROUPED = /^[-+]?[1-9]\d{0,2}(,\d{3})+(?!\d)/;

/** A number as people write one: 1,050,624 · 1 050 624 · 0.25 · 0,125 · 25 % · 3/4. Of 3,142 nobody can tell: it is 3142. */
export function numberOf(text: string): number | undefined {
  const plain = text.replace(/\s/g, '').replace(GROUPED, digits => digits.replace(/,/g, ''));
  const [above, below, ...more] = plain.split('/');
  if (below !== undefined) {
    const [a, b] = [numberOf(above), numberOf(below)];
    return more.length || a === undefined || !b ? undefined : a / b;
  }
  if (!NUMBER.test(plain)) {
    return undefined;
  }
  return parseFloat(plain.replace(',', '.')) / (plain.endsWith('%') ? 100 : 1);
}

const BETWEEN = /\s*[,;×x]\s*|\s+/;
const BETWEEN_COMMAS = /\s*[;×x]\s*|\s*,?\s+/; // a comma between two digits is decimal

/**
 * Numbers in a row, with or without brackets: "[2, 3]", "2 x 3", "(2, 3,)"; for sizes only integers from 0. With a count, it is
 * exactly so many, and "0,5 0,25" may be two.
 */
export function numbersOf(text: string, sizes: boolean, count?: number): number[] | undefined {
  if (count === undefined) {
    return listOf(text, sizes, BETWEEN);
  }
  return [BETWEEN, BETWEEN_COMMAS].map(between => listOf(text, sizes, between)).find(found => found?.length === count);
}

function listOf(text: string, sizes: boolean, between: RegExp): number[] | undefined {
  const inner = text
    .trim()
    .replace(/^(torch\.Size)?[([{]*|[)\]}]*$/g, '')
    .trim();
  const found = inner ? inner.split(between).filter(Boolean).map(numberOf) : [];
  const fine = found.every(one => one !== undefined && (!sizes || (Number.isInteger(one) && one >= 0)));
  return fine && (inner || sizes) ? (found as number[]) : undefined;
}

/** How a field's text was read, unless it is written just so: a sealed prediction cannot be corrected. */
function readAs(text: string, found: unknown, sizes: boolean): string {
  const list = Array.isArray(found) ? found.join(', ') : String(found);
  const plain = sizes ? `[${list}]` : list;
  return found === undefined || plain === text.trim() ? '' : translated('Read as %1', plain);
}

function typed(read: (text: string) => unknown, example: string, changed: () => void, sizes = false): IField {
  const note = h('p', { className: 'tfkit-p-read', 'aria-live': 'polite' });
  const value = (): unknown => (input.value.trim() ? read(input.value) : undefined);
  const input = h('input', { type: 'text', autocomplete: 'off', spellcheck: false, placeholder: example });
  input.oninput = () => {
    input.removeAttribute('aria-invalid');
    note.textContent = readAs(input.value, value(), sizes);
    changed();
  };
  input.onblur = () =>
    input.value.trim() && read(input.value) === undefined && input.setAttribute('aria-invalid', 'true');
  return { node: input, note, read: value };
}

function options(question: IQuestion, name: string, changed: () => void): IField {
  const type = question.several ? 'checkbox' : 'radio';
  const boxes = question.options!.map(option => h('input', { type, name, value: option, onchange: changed }));
  const none = question.several ? [h('input', { type, name, value: '', onchange: changed })] : [];
  const labels = boxes.map(box => h('label', {}, box, h('span', {}, box.value)));
  const last = none.map(box => h('label', {}, box, h('span', {}, translated('none of them'))));
  const read = (): string[] | undefined => {
    const chosen = boxes.filter(box => box.checked).map(box => box.value);
    return chosen.length ? (none[0]?.checked ? undefined : chosen) : none[0]?.checked ? [] : undefined;
  };
  return { node: h('div', { className: 'tfkit-p-options' }, ...labels, ...last), read };
}

const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
};

/** A table of toggle cells, which the pointer can also paint; arrow keys move, and one cell is in the tab order. */
function drawn({ rows, columns, label }: IQuestion, changed: () => void): IField {
  const cells = rows!.map(row =>
    columns!.map(column => {
      const name = rows!.length > 1 ? translated('row %1, column %2', row, column) : column;
      return h('button', { type: 'button', tabIndex: -1, 'aria-label': name, 'aria-pressed': 'false' }, '·');
    })
  );
  let touched = false;
  let painting: boolean | null = null;
  const isOn = (cell: HTMLElement): boolean => cell.getAttribute('aria-pressed') === 'true';
  const put = (cell: HTMLElement, on: boolean): void => {
    cell.setAttribute('aria-pressed', String(on));
    cell.textContent = on ? '✓' : '·';
    touched = true;
    changed();
  };
  cells[0][0].tabIndex = 0;
  cells.forEach((row, i) =>
    row.forEach((cell, j) => {
      cell.onpointerdown = event => {
        cell.releasePointerCapture?.(event.pointerId);
        painting = !isOn(cell);
        put(cell, painting);
      };
      cell.onpointerenter = event => (event.buttons & 1 && painting !== null ? put(cell, painting) : undefined);
      cell.onclick = event => event.detail === 0 && put(cell, !isOn(cell)); // by a key; onpointerdown handles the pointer
      cell.onkeydown = event => {
        const [down, across] = STEPS[event.key] ?? [];
        const next = down === undefined ? undefined : cells[i + down]?.[j + across];
        if (next) {
          cell.tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
        }
        if (down !== undefined) {
          event.preventDefault();
          event.stopPropagation(); // the notebook uses the arrow keys too
        }
      };
    })
  );
  const head = h('tr', {}, h('td', {}), ...columns!.map(name => h('th', { scope: 'col' }, name)));
  const body = cells.map((row, i) =>
    h('tr', {}, h('th', { scope: 'row' }, rows![i]), ...row.map(cell => h('td', { className: 'tfkit-p-cell' }, cell)))
  );
  const table = h(
    'table',
    { className: 'tfkit-v-m', 'aria-label': label },
    h('thead', {}, head),
    h('tbody', {}, ...body)
  );
  const node = h('div', { className: 'tfkit-p-mask' }, table);
  return { node, read: () => (touched ? cells.map(row => row.map(isOn)) : undefined) };
}

/** The field that answers a question of this kind. */
export function fieldOf(question: IQuestion, place: number, name: string, changed: () => void): IField {
  switch (question.kind) {
    case 'choice':
      return options(question, `${name} ${place}`, changed);
    case 'mask':
      return drawn(question, changed);
    case 'number':
      return typed(numberOf, '', changed);
    case 'shape':
      return typed(text => numbersOf(text, true), '[2, 3]', changed, true);
    default:
      return typed(text => numbersOf(text, false, question.count), translated('%1 numbers', question.count!), changed);
  }
}

/** The form; it sends the answers to the kernel, which replies with `sealed` or with a `problem`. */
function form(model: IModel): HTMLElement {
  const { name, questions, sure } = model.get('form') as { name: string; questions: IQuestion[]; sure?: number[] };
  const seal = h('button', { type: 'submit', className: 'tfkit-p-seal' }, translated('Seal the prediction'));
  const pass = h('button', { type: 'button', className: 'tfkit-p-pass' }, translated('Skip'));
  pass.title = translated('Go on without a prediction');
  const problem = h('p', { className: 'tfkit-p-problem', role: 'alert' });
  const fields = questions.map((question, i) => fieldOf(question, i, name, () => (problem.textContent = '')));
  const sets = questions.map(({ label }, i) => {
    const { node: input, note } = fields[i];
    return h('fieldset', {}, h('legend', {}, label), input, ...(note ? [note] : []));
  });
  fields.forEach(
    ({ node }, i) => node instanceof HTMLInputElement && node.setAttribute('aria-label', questions[i].label)
  );
  const badge = h('span', { className: 'tfkit-v-badge' }, translated('predict'));
  const head = h('div', { className: 'tfkit-v-head' }, badge, ' ', h('code', {}, name));
  const node = h(
    'form',
    { className: 'tfkit-verdict tfkit-predict', 'aria-label': translated('Prediction %1', name) },
    head,
    ...sets,
    problem
  );
  const steps = (sure ?? []).map(value => h('input', { type: 'radio', name: `${name} sure`, value: String(value) }));
  if (steps.length) {
    const labels = steps.map(step => h('label', {}, step, h('span', {}, `${step.value} %`)));
    const asks = h('legend', {}, translated('How sure are you that all of it comes true? You may leave this open.'));
    problem.before(h('fieldset', {}, asks, h('div', { className: 'tfkit-p-options tfkit-p-sureness' }, ...labels)));
  }
  node.append(h('div', { className: 'tfkit-p-bar' }, seal, pass));
  node.onsubmit = event => {
    event.preventDefault();
    const answers = fields.map(one => one.read());
    const missing = answers.findIndex(answer => answer === undefined);
    if (missing >= 0) {
      problem.textContent = translated('Not answered yet, or not readable: %1', questions[missing].label);
      (fields[missing].node.closest('fieldset') ?? node)
        .querySelector<HTMLElement>('input, button[tabindex="0"]')
        ?.focus();
    } else {
      const chosen = steps.find(step => step.checked);
      model.send?.({ do: 'seal', answers, ...(chosen ? { sure: Number(chosen.value) } : {}) });
    }
  };
  pass.onclick = () => model.send?.({ do: 'pass' });
  node.onkeydown = event => event.stopPropagation(); // keys typed in a field must not reach the notebook
  model.on('change:problem', () => (problem.textContent = (model.get('problem') ?? '') as string));
  return node;
}

export function mount(model: IModel, el: HTMLElement): () => void {
  const questionForm = form(model);
  const showSealed = (): void => {
    if (model.get('sealed')) {
      const message = h('p', { role: 'status' }, translated('Sealed. A cell below compares it with what comes out.'));
      el.replaceChildren(h('div', { className: 'tfkit-verdict tfkit-predict' }, message));
    }
  };
  el.append(questionForm);
  showSealed();
  model.on('change:sealed', showSealed);
  return () => {
    model.off('change:sealed', showSealed);
    el.replaceChildren();
  };
}

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
