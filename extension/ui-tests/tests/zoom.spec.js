const { execFileSync } = require('node:child_process');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { accessible, activate, command, lab, setSource, shot } = require('../helpers');

// what a window of 1280 × 800 has at a zoom of 200 %
test.use({ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, reducedMotion: 'reduce' });

const UNIT = '02-masks/02-masks.ipynb';
const EXERCISE = 'masks.causal';
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
  await page.goto(`file://${join(__dirname, '../.tmp/root/views.html')}`);
  await expect(page.getByRole('group', { name: 'Walk through one step', exact: true })).toBeVisible();
  await expect(page.locator('.tfk')).toHaveCount(19);
  expect(await outOfReach(page, '.tfk')).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
});
