import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RecordedModel } from './model';
import { shareBy } from './share';
import { mount } from './stepper';
import { probabilities } from './strip';
import { ITrace } from './trace';
import { translateBy } from './words';

const golden = (name: string): ITrace => JSON.parse(readFileSync(`../tests/extension/golden/${name}.json`, 'utf-8'));

class Counting extends RecordedModel {
  listeners = 0;
  requests: unknown[] = [];
  send?: (message: Record<string, unknown>) => void;
  on(event: string, callback: () => void): void {
    this.listeners++;
    super.on(event, callback);
  }
  off(event: string, callback: () => void): void {
    this.listeners--;
    super.off(event, callback);
  }
}

function shownIn(
  trace: ITrace,
  step = 0,
  more: Record<string, unknown> = {}
): { model: Counting; el: HTMLElement; root: HTMLElement; off: () => void } {
  const model = new Counting({ trace, step, layer: 0, head: 0, ...more });
  if (more.requests) {
    model.send = message => model.requests.push(message);
  }
  const el = document.createElement('div');
  document.body.append(el);
  const off = mount(model, el);
  return { model, el, off, root: el.querySelector('.tfk') as HTMLElement };
}

const key = (root: HTMLElement, name: string): boolean =>
  root.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
const said = (root: HTMLElement): string => root.querySelector('[role=status]')!.textContent;

afterEach(() => document.body.replaceChildren());

describe('the stepper', () => {
  it('speaks the language of the lab, where there is one', () => {
    translateBy((english, ...values) => `«${[english, ...values].join('|')}»`);
    const { root } = shownIn(golden('beam'), 1);
    expect(root.querySelector('button[aria-label="«Step forward»"]')).not.toBeNull();
    expect(said(root)).toMatch(/^«Step %1 of %2: %3\|2\|\d+\|«chose %1\|.+»»$/);
    expect(root.textContent).toContain('«Next token»');
    translateBy();
    expect(said(shownIn(golden('beam'), 1).root)).toMatch(/^Step 2 of \d+: chose /);
  });

  it('says where attention is pooled, and names blocks instead of positions', async () => {
    const trace = golden('pooled'); // 10 positions, by 3: step 3 is told by position 6, the first of its block
    const { root, model } = shownIn(trace, 3);
    const map = root.querySelector<HTMLElement>('.tfk-map')!;
    await vi.waitFor(() => expect(map.textContent).toContain('attends most to'));
    const [said, note] = [...map.querySelectorAll('p')];
    expect(note.textContent).toBe(
      'Attention pooled 3 × 3 to keep the notebook small: each square is the largest weight of its block.'
    );
    expect([...map.querySelectorAll('td:first-child')].map(cell => cell.textContent)).toEqual(['0–2', '3–5', '6–8']);
    expect(said.textContent).toMatch(/layer 1 head 1: “.+….+” attends most to “.+….+” \(positions \d–\d, weight/);
    model.set('step', 5);
    expect([...map.querySelectorAll('td:first-child')].map(cell => cell.textContent)).toEqual(['0–2', '3–5', '6–8']);
  });

  it('shows tokens in their places where a text is filled in', () => {
    const trace = { ...golden('greedy'), prompt: ['a', '▢', '▢'], attention: undefined };
    const [, first, second] = trace.path.map(id => trace.nodes[id]);
    [first.place, second.place] = [2, 1];
    const { root, model } = shownIn(trace, 0);
    const text = root.querySelector('ol[aria-label="Tokens so far"]')!;
    const shown = (): string[] => [...text.children].map(item => item.textContent);
    expect(shown()).toEqual(['a', '▢', first.token]);
    expect(text.querySelector('.tfk-now')!.textContent).toBe(first.token);
    model.set('step', 1);
    expect(shown()).toEqual(['a', second.token, first.token]);
    expect(text.querySelector('.tfk-now')!.textContent).toBe(second.token);
  });

  it('names the position that is filled in above its candidates, and no next token', () => {
    const trace = { ...golden('greedy'), prompt: ['a', '▢', '▢'], attention: undefined };
    const [, first, second] = trace.path.map(id => trace.nodes[id]);
    [first.place, second.place] = [2, 1];
    const { root, model } = shownIn(trace, 0);
    const named = (): (string | null)[] => {
      const table = root.querySelector('table.tfk-next')!;
      const group = table.closest('section')!;
      return [
        group.querySelector('h4')!.textContent,
        group.getAttribute('aria-label'),
        table.getAttribute('aria-label')
      ];
    };
    expect(named()).toEqual(['Token at position 2', 'Token at position 2', 'Most probable tokens']);
    model.set('step', 1);
    expect(named()[0]).toBe('Token at position 1');
    expect(root.textContent).not.toContain('Next token');
  });

  it('says nothing of pooling where there is none', async () => {
    const { root } = shownIn(golden('greedy'), 1);
    const map = root.querySelector<HTMLElement>('.tfk-map')!;
    await vi.waitFor(() => expect(map.textContent).toContain('attends most to'));
    expect(map.textContent).not.toContain('pooled');
  });

  it('goes both ways by keyboard and stops at the ends', () => {
    const trace = golden('greedy');
    const { model, root } = shownIn(trace);
    key(root, 'ArrowLeft');
    expect(model.get('step')).toBe(0);
    key(root, 'ArrowRight');
    key(root, 'ArrowRight');
    key(root, 'ArrowLeft');
    expect(said(root)).toBe(`Step 2 of ${trace.steps.length}: chose ${trace.nodes[2].token}`);
    key(root, 'End');
    key(root, 'ArrowRight');
    expect(model.get('step')).toBe(trace.steps.length - 1);
    key(root, 'Home');
    expect(model.get('step')).toBe(0);
  });

  it('goes both ways by button, and disables what leads nowhere', () => {
    const { model, root } = shownIn(golden('beam'));
    const button = (name: string): HTMLButtonElement => root.querySelector(`button[aria-label="${name}"]`)!;
    expect(button('Step back').getAttribute('aria-disabled')).toBe('true');
    button('Step forward').click();
    button('Step forward').click();
    button('Step back').click();
    expect(model.get('step')).toBe(1);
    button('Last step').click();
    expect(button('Step forward').getAttribute('aria-disabled')).toBe('true');
  });

  it.each([
    ['Step forward', 'End', 'Home'],
    ['Step back', 'Home', 'End']
  ])('keeps the focus on “%s” at the end it leads to, so that keys go on working', (name, there, back) => {
    const { model, root } = shownIn(golden('beam'), 1);
    const button = root.querySelector<HTMLButtonElement>(`button[aria-label="${name}"]`)!;
    button.focus();
    key(button, there);
    expect([button.disabled, document.activeElement]).toEqual([false, button]);
    const end = model.get('step');
    button.click(); // leads nowhere from here
    expect(model.get('step')).toBe(end);
    key(document.activeElement as HTMLElement, back);
    expect(model.get('step')).not.toBe(end);
  });

  it('keeps Hebrew, Arabic and marks of direction from turning what stands beside them', () => {
    const trace = structuredClone(golden('beam'));
    const [, first] = trace.nodes;
    const before = first.token;
    for (const node of trace.nodes) {
      node.token = node.token === before ? 'שלום\u202e' : node.token;
    }
    const { root } = shownIn(trace, 2);
    const text = root.textContent;
    expect(text).toContain('\u2068שלום⟨U+202E⟩\u2069');
    expect(text).not.toContain('\u202e');
    for (const label of root.querySelectorAll('.tfk-tree text')) {
      const words = label.textContent;
      expect(words.split('\u2068').length).toBe(words.split('\u2069').length); // what opens is closed, however short
    }
  });

  it('makes the tree larger and smaller, and keeps that while steps go by', () => {
    const { root } = shownIn(golden('beam'), 2);
    const width = (): number => Number(root.querySelector('.tfk-tree svg[role=img]')!.getAttribute('width'));
    const natural = width();
    const region = root.querySelector<HTMLElement>('.tfk-tree')!;
    root.querySelector<HTMLElement>('[aria-label="Larger"]')!.click();
    expect(width()).toBeCloseTo(1.4 * natural);
    for (let i = 0; i < 9; i++) {
      key(region, '-');
    }
    expect(width()).toBeCloseTo(0.5 * natural); // and no smaller
    region.focus();
    key(region, 'ArrowRight');
    key(region, 'ArrowLeft');
    expect([width(), document.activeElement]).toEqual([0.5 * natural, region]);
  });

  it('draws the probability of what each step chose beside the entropy', () => {
    const trace = golden('greedy');
    const { root } = shownIn(trace, 1);
    const [entropy, chance] = [...root.querySelectorAll('.tfk-strip')].map(one => one.getAttribute('aria-label')!);
    expect(entropy).toMatch(/^Entropy of each step: /);
    expect(chance).toMatch(/^Probability of what was chosen of each step: /);
    const taken = trace.nodes[trace.path[1]];
    expect(probabilities(trace)[0]).toBeCloseTo(Math.exp(taken.logp));
    expect(probabilities({ ...trace, offset: 2 }).slice(0, 2)).toEqual([0, 0]); // by hand
  });

  it('offers what the page around it can do, and nothing where it stands alone', async () => {
    expect(shownIn(golden('greedy')).root.querySelectorAll('.tfk-share button')).toHaveLength(0);
    const saved: unknown[] = [];
    const sharing = { copyPng: vi.fn(), saveSvg: vi.fn(), save: (...file: unknown[]) => (saved.push(file), 'Saved') };
    const asked = vi.fn((_title: string, state: Record<string, unknown>) =>
      Promise.resolve(`page of step ${String(state.step)}`)
    );
    try {
      shareBy({ load: () => Promise.resolve(sharing as never), page: asked, link: () => 'https://example.org/#here' });
      const { root } = shownIn(golden('greedy'), 1);
      const buttons = [...root.querySelectorAll<HTMLElement>('.tfk-share button')];
      expect(buttons.map(button => button.textContent)).toEqual(['PNG', 'SVG', 'HTML', 'Link']);
      buttons[2].click();
      await vi.waitFor(() => expect(buttons[2].textContent).toBe('Saved'));
      expect(saved).toEqual([[expect.stringMatching(/\.html$/), 'page of step 1', 'text/html']]);
      asked.mockRejectedValueOnce(new Error('the server has gone'));
      buttons[2].click();
      await vi.waitFor(() => expect(buttons[2].textContent).toBe('the server has gone'));
    } finally {
      shareBy();
    }
  });

  it('shows the candidates of the step, as the trace has them', () => {
    const trace = golden('greedy');
    const { root } = shownIn(trace, 1);
    const rows = [...root.querySelectorAll('[aria-label="Next token"] tbody tr')].map(row => row.textContent);
    expect(rows).toHaveLength(trace.steps[1].topk['1'].length);
    expect(rows[0]).toContain(trace.steps[1].topk['1'][0][2].toFixed(3));
    expect(root.textContent).toContain(`Entropy ${trace.steps[1].entropy['1'].toFixed(2)}`);
  });

  it('leaves keys with modifiers, and those of its selects, alone', () => {
    const { model, root } = shownIn(golden('greedy'));
    root.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', ctrlKey: true, bubbles: true }));
    key(root.querySelector('select') as unknown as HTMLElement, 'ArrowRight');
    expect(model.get('step')).toBe(0);
  });

  it('tells whoever holds the document where it was left', () => {
    const { el, root } = shownIn(golden('greedy'));
    const heard = vi.fn();
    el.addEventListener('tfkit:state', event => heard((event as CustomEvent).detail));
    key(root, 'ArrowRight');
    expect(heard.mock.calls).toEqual([[{ step: 1, layer: 0, head: 0, pin: -1 }]]);
  });

  it('follows its model', () => {
    const { model, root } = shownIn(golden('greedy'));
    model.set('step', 3);
    expect(said(root)).toContain('Step 4');
  });

  it('writes tokens as text', () => {
    const trace = golden('greedy');
    trace.nodes[1].token = '<img src=x onerror=alert(1)>';
    const { root } = shownIn(trace);
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).toContain('<img');
  });

  it('says what is wrong with a broken trace', () => {
    const { root } = shownIn({ ...golden('greedy'), schema: 'x' } as unknown as ITrace);
    expect(root.getAttribute('role')).toBe('alert');
  });

  it('draws the beam with a table beside it', () => {
    const { root } = shownIn(golden('beam'), 1);
    expect(root.querySelectorAll('svg circle').length).toBe(golden('beam').nodes.filter(n => n.step <= 2).length);
    expect(root.textContent).toContain('Hypotheses after this step');
  });

  it('plays to the end, and stops there', () => {
    vi.useFakeTimers();
    const { model, root } = shownIn(golden('greedy'), 3);
    key(root, 'p');
    expect(root.querySelector('[aria-label="Pause"]')).not.toBeNull();
    vi.advanceTimersByTime(60000);
    expect(model.get('step')).toBe(golden('greedy').steps.length - 1);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('jumps to a step by its number', () => {
    const { model, root } = shownIn(golden('greedy'));
    const field = root.querySelector<HTMLInputElement>('[aria-label="Go to step"]')!;
    field.value = '4';
    field.dispatchEvent(new Event('change'));
    expect(model.get('step')).toBe(3);
  });

  it('shows a pinned step beside the others', () => {
    const { model, root } = shownIn(golden('greedy'), 1);
    const pinned = root.querySelector<HTMLElement>('[aria-label="Pinned step"]')!;
    key(root, 'm');
    expect([model.get('pin'), pinned.hidden]).toEqual([1, true]);
    key(root, 'ArrowRight');
    expect(pinned.hidden).toBe(false);
    expect(pinned.textContent).toContain('Pinned: step 2');
  });

  it('shows what a sample cuts', () => {
    const trace = golden('sample');
    const { root } = shownIn(trace);
    const [cold, few, nucleus] = trace.steps[0].stages!['0'];
    const cut = root.querySelectorAll('[aria-label="Next token"] td.tfk-cut').length;
    expect(cut).toBe([cold, few, nucleus].flatMap(s => s.p).filter(p => p === 0).length);
    expect(root.textContent).toContain(`${nucleus.name} leaves ${nucleus.left}`);
  });

  it('shows what contrastive search weighs', () => {
    const trace = golden('contrastive');
    const { root } = shownIn(trace);
    expect(root.textContent).toContain('likeness');
    expect(root.querySelector('.tfk-chosen')!.textContent).toContain(trace.nodes[trace.path[1]].told!.value.toFixed(3));
  });

  it('shows a draft with what became of each token', () => {
    const trace = golden('speculative');
    const { root } = shownIn(trace);
    const fates = [...root.querySelectorAll('[aria-label=Draft] tbody tr')].map(
      row => row.lastElementChild!.textContent
    );
    expect(fates.map(f => f.split(' ').pop())).toEqual(
      trace.steps[0].draft!.draft_tokens.map(g => ({ kept: 'accepted', refused: 'rejected', unread: 'read' })[g.state])
    );
  });

  it('shows groups, and the cache that a reorder copies', () => {
    const trace = golden('diverse');
    const at = trace.steps.findIndex(s => s.cache!.copied > 0);
    const { root } = shownIn(trace, at);
    expect(root.querySelector('[aria-label=Beam]')!.textContent).toContain('group');
    expect(root.querySelector('[aria-label=Cache]')!.textContent).toContain('copied');
    const { rows, length } = trace.steps[at].cache!;
    expect(root.querySelectorAll('.tfk-cache rect').length).toBe(rows * length);
  });

  it('steps through two runs at once and marks where they diverge', () => {
    const { model, root } = shownIn(golden('greedy'), 0, { other: golden('sample') });
    expect(said(root)).toMatch(/A chose .*; B chose .*/);
    const button = [...root.querySelectorAll('button')].find(b => b.textContent.startsWith('First difference'))!;
    button.click();
    expect(said(root)).toContain('the runs diverge here');
    expect(root.querySelectorAll('.tfk-parting').length).toBe(2);
    const keep = [...root.querySelectorAll('button')].filter(b => b.textContent === 'Keep only this');
    keep[1].click();
    expect([model.get('other'), (model.get('trace') as ITrace).strategy]).toEqual([null, 'sample']);
  });

  it('fades while the kernel computes, until it has answered, with the same picture or an error', () => {
    const { model, root } = shownIn(golden('greedy'), 1, { requests: ['branch', 'prompt'] });
    root.querySelector<HTMLElement>('[aria-label^="Take "]')!.click();
    expect(root.getAttribute('aria-busy')).toBe('true');
    model.set('message', 'ValueError: no');
    model.set('n_answers', 1);
    expect([root.hasAttribute('aria-busy'), root.querySelector('[role=log]')!.textContent]).toEqual([
      false,
      'ValueError: no'
    ]);
  });

  it('tells how many steps two runs took that say the same, and which began by hand', () => {
    const [one, other] = [golden('greedy'), golden('greedy')];
    other.steps.push(other.steps[other.steps.length - 1]);
    expect(shownIn(one, 0, { other }).root.textContent).toContain(
      `Both runs produce the same text, A in ${one.steps.length} steps and B in ${one.steps.length + 1}.`
    );
    const forced = { ...golden('greedy'), offset: 1 };
    expect(shownIn(one, 0, { other: forced }).root.textContent).toMatch(/B: greedy \(.*\), steps chosen by hand: 1/);
  });

  it('grows its bars from where those of the step before were', () => {
    const { root } = shownIn(golden('greedy'));
    const bars = (): HTMLElement[] => [...root.querySelectorAll<HTMLElement>('[aria-label="Next token"] .tfk-p')];
    const before = bars().map(bar => bar.style.width);
    key(root, 'ArrowRight');
    expect(bars()[0].style.getPropertyValue('--tfk-from')).toBe(before[0]);
  });

  it('asks the kernel for another token or prompt, and says what it answers', () => {
    const trace = golden('greedy');
    const { model, root } = shownIn(trace, 1, { requests: ['branch', 'prompt'] });
    root.querySelectorAll<HTMLButtonElement>('[aria-label="Next token"] td button')[0].click();
    const [first] = model.requests as { do: string; of: number; ids: number[] }[];
    expect([first.do, first.of, first.ids[0], first.ids.length]).toEqual(['branch', 0, trace.nodes[1].token_id, 2]);
    root.querySelector<HTMLInputElement>('input[type=text]')!.value = 'a dog';
    root.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(model.requests[1]).toEqual({ do: 'prompt', text: 'a dog' });
    model.set('message', 'ValueError: no');
    expect(root.querySelector('[role=log]')!.textContent).toBe('ValueError: no');
  });

  it('offers nothing that a recording cannot do', () => {
    const { root } = shownIn(golden('greedy'), 1);
    expect(root.querySelectorAll('td button, form').length).toBe(0);
  });

  it('shows a run that began later beside one from the start', () => {
    const late = { ...golden('greedy'), prompt: ['<s>', golden('greedy').nodes[1].token], offset: 1 };
    const { root } = shownIn(golden('greedy'), 0, { other: late });
    expect(said(root)).toContain('B chosen by hand');
  });

  it('leaves nothing behind', () => {
    const { model, el, off } = shownIn(golden('beam'));
    off();
    expect([model.listeners, el.childElementCount]).toEqual([0, 0]);
  });
});
