/** A field for another text, where the kernel can draw the view over it. */
import { h } from './dom';
import { IModel } from './model';
import { translated } from './words';

export interface ISentence {
  readonly node: HTMLFormElement;
  /** What is typed. */
  readonly text: string;
  /** Whether an answer is awaited. */
  readonly waits: boolean;
  /** The kernel has answered: a message if it could not, or an empty one. */
  answer(message: string): void;
  /** Takes the place of the field of the view before: what is typed, and the focus if that one had it. */
  replace(before: ISentence | null, hadFocus: boolean): void;
}

/** The field, if the kernel takes such requests; `root` is marked as busy until it answers. */
export function sentenceForm(model: IModel, root: HTMLElement): ISentence | null {
  const requests = (model.get('requests') ?? []) as string[];
  if (!model.send || !requests.includes('sentence')) {
    return null;
  }
  const what = translated('Another sentence');
  const input = h('input', { type: 'text', maxLength: 300, autocomplete: 'off' });
  const note = h('span', { className: 'tfk-note', role: 'status' });
  const node = h(
    'form',
    { className: 'tfk-bar tfk-sentence', 'data-lm-suppress-shortcuts': 'true' },
    h('label', {}, what, input),
    h('button', { type: 'submit' }, translated('Walk through it')),
    note
  );
  let waits = false;
  node.onsubmit = event => {
    event.preventDefault();
    if (input.value.trim() && !waits) {
      waits = true;
      note.textContent = translated('Asking the kernel: %1 …', input.value);
      root.setAttribute('aria-busy', 'true');
      model.send?.({ do: 'sentence', text: input.value });
    }
  };
  return {
    node,
    get text() {
      return input.value;
    },
    get waits() {
      return waits;
    },
    answer: message => {
      waits = false;
      root.removeAttribute('aria-busy');
      note.textContent = message;
    },
    replace: (before, hadFocus) => {
      if (before?.waits) {
        input.value = before.text;
        if (hadFocus) {
          input.focus();
        }
      }
    }
  };
}
