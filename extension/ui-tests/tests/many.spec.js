const { expect, test } = require('@playwright/test');
const { activate, command, lab, shot } = require('../helpers');

const ROUNDS = 3;

/** Counts what is heard on things that outlive every widget: window, document, body, media queries. */
function countListeners() {
  const lasting = target =>
    target === window || target === document || target === document.body || target instanceof MediaQueryList;
  const heard = new Map();
  const key = (type, options) => `${type} ${typeof options === 'boolean' ? options : !!options?.capture}`;
  const of = target => heard.get(target) ?? heard.set(target, new Map()).get(target);
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const target = this ?? window;
    if (listener && lasting(target) && !options?.once) {
      const all = of(target);
      const name = key(type, options);
      all.set(name, (all.get(name) ?? new Set()).add(listener));
      options?.signal && add.call(options.signal, 'abort', () => all.get(name).delete(listener));
    }
    return add.call(target, type, listener, options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    const target = this ?? window;
    heard.get(target)?.get(key(type, options))?.delete(listener);
    return remove.call(target, type, listener, options);
  };
  window.lastingListeners = () =>
    [...heard.values()].flatMap(all => [...all.values()]).reduce((sum, { size }) => sum + size, 0);
}

test('twenty widgets in one notebook all work, and leave no listener and no view behind', async ({ page }) => {
  await page.addInitScript(countListeners);
  await lab(page, 'many.ipynb');
  const session = await page.context().newCDPSession(page);
  const live = page.locator('.jp-Cell').nth(1).locator('.tfkit-Trace > div:last-child .tfk');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  const listeners = [];
  for (let round = 0; round < ROUNDS; round++) {
    await activate(page, 1);
    await command(page, 'notebook:run-cell');
    await expect(live).toHaveCount(20, { timeout: 60000 });
    await live.evaluateAll(views => {
      window.views = [...(window.views ?? []), ...views.map(view => new WeakRef(view))];
    });
    await live.nth(19).focus();
    await page.keyboard.press('ArrowRight');
    await expect(live.nth(19).locator('[role=status]')).toHaveText(/^Step 2 of 6/);
    await expect(live.nth(0).locator('[role=status]')).toHaveText(/^Step 1 of 6/);
    if (round === 0) {
      await shot(page, 'many');
    }
    await activate(page, 1);
    await command(page, 'notebook:clear-cell-output');
    await expect(live).toHaveCount(0);
    listeners.push(await page.evaluate(() => window.lastingListeners()));
  }
  console.log(`listeners on what lasts, after each round of 20 widgets: ${listeners.join(', ')}`);
  expect(listeners[0]).toBeGreaterThan(0);
  // JupyterLab's own come and go by one or two; one left by each widget would be forty
  expect(listeners[ROUNDS - 1] - listeners[0]).toBeLessThan(20);
  const kept = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return page.evaluate(() => window.views.filter(view => view.deref()).length);
  };
  // the browser itself may hold on to what had the focus last
  await expect.poll(kept, { timeout: 20000 }).toBeLessThanOrEqual(1);
  expect(await page.evaluate(() => window.views.length)).toBe(20 * ROUNDS);
});
