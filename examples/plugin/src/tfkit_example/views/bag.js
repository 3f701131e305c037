/** Counts as a table with bars. The root carries the class `tfk`: by it the renderer knows that a view stands. */
const make = (tag, text = '') => Object.assign(document.createElement(tag), { textContent: text });

function row([token, count], most) {
  const bar = make('span');
  bar.style.cssText = `display:inline-block;height:.8em;background:#1565c0;width:${(160 * count) / most}px`;
  const head = Object.assign(make('th', token), { scope: 'row' });
  const cell = make('td', `${count} `);
  cell.append(bar);
  const line = make('tr');
  line.append(head, cell);
  return line;
}

export function mount(model, el) {
  const root = Object.assign(make('div'), { className: 'tfk' });
  root.setAttribute('role', 'group');
  root.setAttribute('aria-label', 'Bag of words');
  const show = () => {
    const { title, counts } = model.get('trace');
    const table = make('table');
    table.append(...counts.map(pair => row(pair, counts[0][1])));
    root.replaceChildren(make('h3', title), table);
  };
  show();
  el.append(root);
  model.on('change:trace', show);
  return () => {
    model.off('change:trace', show);
    root.remove();
  };
}

export default { render: ({ model, el }) => mount(model, el) };
