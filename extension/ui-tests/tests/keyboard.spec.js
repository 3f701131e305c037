const { expect, test } = require('@playwright/test');
const { accessible, largeEnough, openPage } = require('../helpers');

test.use({ reducedMotion: 'reduce' });

/** What is pressed to answer a question once its first field has the focus, and the answer that this is. */
const answer = question => {
  switch (question.kind) {
    case 'number':
      return [['1'], 1];
    case 'numbers':
      return [[...Array(question.count).fill('1').join(' ')], Array(question.count).fill(1)];
    case 'shape':
      return [[...'2 3'], [2, 3]];
    case 'choice': // each check box is a stop, and radio buttons are one together
      return [['Space', ...(question.several ? question.options.map(() => 'Tab') : [])], [question.options[0]]];
    default:
      return [['Space'], question.rows.map((_, i) => question.columns.map((_, j) => i + j === 0))];
  }
};

test('the predictions of every unit are answered and sealed by the keyboard alone', async ({ page }) => {
  await openPage(page, 'lessons.html');
  await expect(page.locator('body')).toHaveAttribute('data-drawn', 'true');
  expect(await page.locator('section').count()).toBeGreaterThan(16);
  await expect(page.locator('section:not(:has(form))')).toHaveCount(0);
  await largeEnough(page);
  await accessible(page);
  const forms = await page.locator('.asked').evaluateAll(all => all.map(({ dataset }) => JSON.parse(dataset.form)));
  for (const { questions } of forms) {
    for (const question of questions) {
      for (const key of ['Tab', ...answer(question)[0]]) {
        await page.keyboard.press(key === ' ' ? 'Space' : key);
      }
    }
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
  }
  const expected = forms.map(({ name, questions }) => [name, questions.map(question => answer(question)[1])]);
  const sent = await page.evaluate(() => window.sent);
  expect(Object.entries(sent).map(([name, { answers }]) => [name, answers])).toEqual(expected);
  await expect(page.locator('form')).toHaveCount(0);
});

/** Keeps what is wrong with each part that gets the focus, and which had it. */
function watchFocus() {
  const name = node =>
    node.getAttribute('aria-label') ||
    document.getElementById(node.getAttribute('aria-labelledby'))?.textContent ||
    [...(node.labels ?? [])].map(label => label.textContent).join(' ') ||
    node.textContent.trim() ||
    node.title;
  const isSeen = node => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const shares = [0.02, 0.25, 0.5, 0.75, 0.98];
    return shares.some(x =>
      shares.some(y => node.contains(document.elementFromPoint(left + x * width, top + y * height)))
    );
  };
  const reached = new Set();
  const faults = new Set();
  const look = node => {
    const { outline, outlineOffset, boxShadow, borderColor, backgroundColor } = getComputedStyle(node);
    return [outline, outlineOffset, boxShadow, borderColor, backgroundColor].join();
  };
  let before = null; // the part that had the focus, and its look with it
  window.focusOnce = () =>
    new Promise(done =>
      requestAnimationFrame(() => {
        const node = document.activeElement;
        if (before && before.look === look(before.node)) {
          faults.add(`focus not visible: ${before.told}`);
        }
        if (node === document.body) {
          return done(true); // past the last one
        }
        const was = reached.has(node);
        const told = `${node.localName} “${name(node).slice(0, 40)}”`;
        !name(node) && faults.add(`no name: ${node.outerHTML.slice(0, 120)}`);
        !isSeen(node) && faults.add(`focus covered: ${told}`);
        reached.add(node);
        before = { node, told, look: look(node) };
        done(was);
      })
    );
  const STOPS = 'a[href],button,input,select,textarea,summary,[tabindex]';
  const SETS = '[role=toolbar],[role=group],[role=grid],[role=listbox],ol,ul,table';
  // of a set that the arrow keys go through, one part is a stop
  const inSet = node => node.tabIndex < 0 && [...reached].some(one => one.closest(SETS)?.contains(node));
  window.focusFaults = () => [
    ...faults,
    ...[...document.querySelectorAll(STOPS)]
      .filter(node => node.checkVisibility() && !node.disabled && !reached.has(node) && !inSet(node))
      .map(node => `never reached: ${node.outerHTML.slice(0, 120)}`)
  ];
}

for (const [name, file, key, height] of [
  ['every view', 'views.html', 'Tab', 1000],
  ['the stepper, backwards in a low window', 'page.html', 'Shift+Tab', 400],
  ['the cards of verdicts', 'cards.html', 'Tab', 400],
  ['an exported lesson', 'exported.html', 'Tab', 1000],
  ['the class report', 'report.html', 'Tab', 400],
  ['the page to play with', 'play/index.html', 'Tab', 1000]
]) {
  test(`each control is reached, named, seen with the focus on it, and not covered: ${name}`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height });
    await openPage(page, file);
    await expect(page.locator('main')).toBeVisible();
    await expect(page.locator('[aria-busy=true]')).toHaveCount(0);
    await page.evaluate(watchFocus);
    for (let i = 0, round = false; i < 900 && !round; i++) {
      await page.keyboard.press(key);
      round = await page.evaluate(() => window.focusOnce());
    }
    expect(await page.evaluate(() => window.focusFaults())).toEqual([]);
    await page.evaluate(() => window.scrollTo(0, 0)); // what has scrolled below a bar is no small target
    await largeEnough(page);
    await accessible(page);
  });
}
