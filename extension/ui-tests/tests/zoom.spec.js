const { execFileSync } = require('node:child_process');
const { expect, test } = require('@playwright/test');
const { accessible, activate, command, excessWidth, lab, openPage, setSource, shot } = require('../helpers');

// what a window of 1280 × 800 has at a zoom of 200 %
test.use({ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, reducedMotion: 'reduce' });

const UNIT = '02-masks/02-masks.ipynb';
const EXERCISE = 'masks.causal';
const NO_LATER_HIDDEN = `import torch
def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    words = ids != pad_id
    real = words[:, None, None, :]
    return real.repeat(1, 1, length, 1)`;
const collected = name => execFileSync('autograder', ['corpus', 'show', EXERCISE, name], { encoding: 'utf-8' });

/**
 * What a reader cannot get to, or only by scrolling in two directions: parts that are cut off at a side, unless they are in a box that
 * scrolls sideways, and boxes that scroll both ways. Tables whose names of rows and columns stay in sight may do the latter.
 */
const outOfReach = (page, ...selectors) =>
  page.evaluate(selectors => {
    const scrolls = way => /auto|scroll/.test(way);
    const found = [];
    const described = (what, node) => found.push(`${what}: ${node.tagName} ${node.getAttribute('class')}`);
    const cutOff = node => {
      const { left, right } = node.getBoundingClientRect();
      for (let box = node.parentElement; box; box = box.parentElement) {
        const { overflowX } = getComputedStyle(box);
        if (scrolls(overflowX) && box.scrollWidth > box.clientWidth) {
          return false;
        }
        const edge = box.getBoundingClientRect();
        if (overflowX !== 'visible' && edge.width > 1 && (left < edge.left - 1 || right > edge.right + 1)) {
          return true;
        }
      }
      return left < -1 || right > window.innerWidth + 1;
    };
    const both = node => {
      const { overflowX, overflowY } = getComputedStyle(node);
      const across = scrolls(overflowX) && node.scrollWidth > node.clientWidth + 1;
      return across && scrolls(overflowY) && node.scrollHeight > node.clientHeight + 1;
    };
    for (const root of selectors.flatMap(selector => [...document.querySelectorAll(selector)])) {
      for (const node of [root, ...root.querySelectorAll('*')]) {
        if (node.checkVisibility() && !node.closest('.tfkit-Hidden, .tfk-sr, defs')) {
          cutOff(node) && described('cut off', node);
          both(node) && !node.matches('.tfk-heat') && described('scrolls both ways', node);
        }
      }
    }
    return [...new Set(found)];
  }, selectors);

/** Whether all of a part can be seen: nothing lies over its corners or its middle. */
const uncovered = part =>
  part.evaluate(node => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const at = [
      [left + 4, top + 4],
      [right - 4, bottom - 4],
      [(left + right) / 2, (top + bottom) / 2]
    ];
    return at.every(([x, y]) => node.contains(document.elementFromPoint(x, y)));
  });

test('at 200 % the home page and the panel fit, and the tour does not cover what it tells of', async ({ page }) => {
  await lab(page);
  const home = page.locator('#tfkit-home');
  await expect(home.locator('.tfkit-Card')).toHaveCount(1);
  expect(await outOfReach(page, '#tfkit-home')).toEqual([]);
  await command(page, 'tfkit:tour');
  const tour = home.locator('.tfkit-Tour');
  const words = await tour.locator('p').boundingBox();
  expect(words.width).toBeGreaterThan(320); // the buttons stand below, not beside
  await tour.getByRole('button', { name: 'Show me around' }).click();
  for (const part of ['.tfkit-Continue', '.tfkit-Ring', '.tfkit-Find', '.tfkit-Path h2']) {
    await expect.poll(() => uncovered(home.locator(part)), part).toBe(true);
    expect(await outOfReach(page, '.tfkit-Tour')).toEqual([]);
    await page.keyboard.press('ArrowRight');
  }
  await page.keyboard.press('Escape');
  await home.evaluate(node => node.scrollTo(0, 0));
  await shot(page, 'home-zoom');
  await command(page, 'tfkit:show-course');
  await expect(page.locator('#tfkit-course section')).toHaveCount(1);
  expect(await outOfReach(page, '#tfkit-home', '#tfkit-course')).toEqual([]);
  await accessible(page, '#tfkit-home', '#tfkit-course');
  await shot(page, 'panel-zoom');
});

test('at 200 % an exercise has its Check button, and the verdict fits beside the panel and alone', async ({ page }) => {
  await lab(page, UNIT);
  await command(page, 'tfkit:show-course');
  await activate(page, 0);
  const button = page.locator('.jp-cell-toolbar').getByText('Check', { exact: true });
  await expect(button.filter({ visible: true })).toHaveCount(0); // a lesson's text has none
  await activate(page, { role: 'exercise', exercise: EXERCISE });
  await setSource(page, collected('own_position_hidden'));
  await expect(page.locator('.jp-cell-toolbar:visible .jp-Toolbar-item:visible')).toHaveText(['Check']);
  await button.filter({ visible: true }).click();
  const verdict = page.locator('.tfkit-Verdict');
  await expect(verdict).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
  const opened = details => details.forEach(one => (one.open = true));
  await verdict.locator('details').evaluateAll(opened);
  expect(await outOfReach(page, '.tfkit-Verdict', '#tfkit-course')).toEqual([]);
  await shot(page, 'check-wrong-panel-zoom');
  await command(page, 'application:toggle-left-area');
  const code = page.locator('.jp-Cell.jp-mod-active .jp-InputArea-editor');
  const left = async part => (await part.boundingBox()).x;
  await expect.poll(async () => (await left(verdict)) - (await left(code))).toBeLessThan(24); // no room is lost beside it
  expect(await outOfReach(page, '.tfkit-Verdict')).toEqual([]);
  const widths = await verdict
    .locator('.tfkit-v-steps th')
    .evaluateAll(all => all.map(th => th.scrollWidth - th.clientWidth));
  expect(Math.max(...widths)).toBeLessThanOrEqual(0);
  await verdict.evaluate(node => node.scrollIntoView({ block: 'start' }));
  await shot(page, 'check-wrong-zoom');
});

test('at 200 % the stepper in a notebook and every view on a page fit', async ({ page }) => {
  await lab(page, 'stepper.ipynb');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  const stepper = page.locator('.tfk:visible').first();
  await stepper.focus();
  await page.keyboard.press('End');
  await expect(stepper.locator('[role=status]')).toHaveText(/^Step 6 of 6/);
  expect(await outOfReach(page, '.tfk')).toEqual([]); // the tree is wider and higher than the notebook by now
  await shot(page, 'stepper-zoom');
  await openPage(page, 'views.html');
  await expect(page.getByRole('group', { name: 'Walk through one step', exact: true })).toBeVisible();
  await expect(page.locator('.tfk')).toHaveCount(19);
  expect(await outOfReach(page, '.tfk')).toEqual([]);
  expect(await excessWidth(page)).toBe(0);
});

const PAGES = ['views.html', 'lessons.html', 'page.html', 'cards.html', 'report.html', 'play/index.html'];

test.describe('at 400 %', () => {
  test.use({ viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 }); // a window of 1280 × 1024

  for (const file of PAGES) {
    test(`${file} is read without scrolling sideways`, async ({ page }) => {
      await openPage(page, file);
      await expect(page.locator('[aria-busy=true]')).toHaveCount(0);
      await expect.poll(() => excessWidth(page)).toBeLessThanOrEqual(0);
    });
  }

  test('home page, panel, predictions, verdict and walk fit in the lab', async ({ page }) => {
    await lab(page, undefined, { reading: true });
    const home = page.locator('#tfkit-home');
    await expect(home.locator('.tfkit-Card')).toHaveCount(1); // the left panel is closed: it would leave no room
    expect(await outOfReach(page, '#tfkit-home')).toEqual([]);
    await accessible(page, '#tfkit-home');
    await shot(page, 'home-400');
    await command(page, 'tfkit:show-course');
    await expect(page.locator('#tfkit-course section')).toHaveCount(1);
    expect(await outOfReach(page, '#tfkit-course')).toEqual([]);
    await command(page, 'application:toggle-left-area');

    await command(page, 'tfkit:open-exercise', { path: UNIT, exercise: 'masks.decoder' });
    await setSource(page, NO_LATER_HIDDEN);
    const cell = page.locator('.jp-Cell.jp-mod-active');
    await page.locator('.tfkit-R-setupPart').getByText('run ✓').waitFor({ timeout: 90000 });
    expect(await outOfReach(page, '.tfkit-Stages', '.tfkit-R')).toEqual([]); // predictions are among them
    await cell.locator('.tfkit-R-checkPart').getByRole('button', { name: 'Check' }).click();
    const card = cell.locator('.tfkit-Verdict');
    await expect(card).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
    await card.locator('details').evaluateAll(all => all.forEach(one => (one.open = true)));
    await card.getByRole('button', { name: 'Walk to the mistake' }).click();
    await page.keyboard.press('End');
    await expect(card.locator('.tfkit-v-stop:visible')).toContainText('✗ Line');
    expect(await outOfReach(page, '.tfkit-Verdict')).toEqual([]);
    await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    await accessible(page, '.tfkit-Verdict', '.tfkit-Stages');
    await shot(page, 'walk-400');
    await page.emulateMedia({ forcedColors: null, colorScheme: null });
  });
});

// WCAG 1.4.12
const SPACING = `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
p { margin-bottom: 2em !important }`;

/** Text that is cut off by its own box, unless it says so with an ellipsis or is for screen readers alone. */
const cutText = page =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter(node => node.checkVisibility() && [...node.childNodes].some(one => one.nodeType === 3 && one.data.trim()))
      .filter(node => !node.closest('svg, .tfk-sr, .tfk-axis, [class*=o-status]'))
      .filter(node => {
        const { overflowX, overflowY, textOverflow } = getComputedStyle(node);
        const across = overflowX === 'hidden' && textOverflow !== 'ellipsis' && node.scrollWidth > node.clientWidth + 1;
        return across || (overflowY === 'hidden' && node.scrollHeight > node.clientHeight + 1);
      })
      .map(node => `${node.localName}.${node.className}: ${node.textContent.slice(0, 40)}`)
  );

test.describe('with the spacing of text that a reader may set', () => {
  test.use({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });

  for (const file of PAGES) {
    test(`nothing on ${file} is cut off`, async ({ page }) => {
      await openPage(page, file);
      await expect(page.locator('[aria-busy=true]')).toHaveCount(0);
      await page.addStyleTag({ content: SPACING });
      expect(await cutText(page)).toEqual([]);
      expect(await excessWidth(page)).toBeLessThanOrEqual(0);
    });
  }
});

test('a page moves nothing by itself where a reader wants less motion', async ({ page }) => {
  await openPage(page, 'page.html');
  const stepper = page.locator('.tfk').first();
  await stepper.focus();
  const moving = () => page.evaluate(() => document.getAnimations().length);
  await page.keyboard.press('ArrowRight');
  expect(await moving()).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.keyboard.press('ArrowRight');
  expect(await moving()).toBeGreaterThan(0); // it is the setting that stops it
});
