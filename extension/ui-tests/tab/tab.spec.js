/** The course in a tab: no server but one for files, and no request to anywhere else. */
const { execFileSync } = require('node:child_process');
const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');

const HERE = /^(http:\/\/127\.0\.0\.1:8898|data:|blob:)/;
const PYODIDE = join(process.env.TFKIT_SITE ?? '', 'static', 'pyodide');
const withNumPy = () => existsSync(PYODIDE) && readdirSync(PYODIDE).some(name => name.startsWith('numpy-'));
const FIRST_VERDICT_S = Number(process.env.FIRST_VERDICT_S || 30); // more on a machine that is busy
const WRONG = 'def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool)\n';

const cell = (page, text) => page.locator('.jp-Notebook .jp-CodeCell').filter({ hasText: text }).first();
const verdict = page => page.locator('.tfkit-Verdict').first();
const right = (exercise, style) =>
  execFileSync('autograder', ['corpus', 'show', exercise, style], { encoding: 'utf-8' });

test.skip(
  !process.env.TFKIT_SITE,
  'set TFKIT_SITE to a site that course.build --lite wrote with --pyodide (docs/lite.md)'
);

let away;
test.beforeEach(({ context }) => {
  away = [];
  context.on('request', request => HERE.test(request.url()) || away.push(request.url()));
});
test.afterEach(() => expect(away).toEqual([]));

/** Opens a unit's notebook. */
async function open(page, unit) {
  await page.goto(`/lab/index.html?path=${unit}.ipynb`);
  await page.locator('.jp-Notebook .jp-Cell').first().waitFor({ timeout: 60000 });
}

/** Runs a cell, with other text in it where some is given, and waits until it is done. */
async function run(page, text, source) {
  const found = await cell(page, text).elementHandle();
  await (await found.$('.cm-content')).click();
  if (source) {
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(source);
  }
  const before = await (await found.$('.jp-InputPrompt')).innerText();
  await page.keyboard.press('Shift+Enter');
  await expect
    .poll(async () => (await (await found.$('.jp-InputPrompt')).innerText()).replace(before, ''))
    .toMatch(/\[\d+\]/);
  await expect(
    page.locator('.jp-OutputArea-output').filter({ hasText: 'Traceback (most recent call last)' })
  ).toHaveCount(0);
}

test('the notebook is handed in as a file, without the cells that only a tab needs', async ({ page }) => {
  await open(page, '02-masks');
  const download = page.waitForEvent('download');
  await page.locator('[data-jp-item-name="tfkit-hand-in"]').locator('jp-button, button').first().click();
  await page.locator('.jp-Dialog input').fill('ada', { timeout: 10000 });
  await page.locator('.jp-Dialog .jp-mod-accept').click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^02-masks_ada_attempt_\d{8}T\d{6}Z_02-masks\.ipynb$/);
  const { cells } = JSON.parse(readFileSync(await file.path(), 'utf-8'));
  expect(cells.some(one => one.id === 'tab-start')).toBe(false);
  expect(cells.some(one => one.metadata.nbgrader?.grade_id === 'solution-masks-causal')).toBe(true);
});

test('Check before any cell was run brings the course into the tab, and what the answer needs', async ({ page }) => {
  test.skip(!withNumPy(), 'the site has no NumPy: give --pyodide the full distribution');
  await open(page, '02-masks');
  await cell(page, 'def causal_mask').locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(right('masks.causal', 'lower_triangle'));
  await page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true }).click();
  await expect(page.getByText('The course comes into this tab first.')).toBeVisible();
  await expect(verdict(page)).toContainText('1 of 1 point');
  await expect(cell(page, 'import piplite').locator('.jp-InputPrompt')).toHaveText(/\[1\]/);
  await expect(page.locator('.jp-OutputArea-output').filter({ hasText: 'Traceback' })).toHaveCount(0);
});

test('from the first page to the first verdict, nothing in the cache', async ({ page }) => {
  test.skip(!withNumPy(), 'the site has no NumPy: give --pyodide the full distribution');
  const answer = right('masks.causal', 'lower_triangle');
  await page.goto('/index.html');
  const begin = Date.now();
  await page.getByRole('link', { name: 'Start the course in this tab' }).click();
  await page.waitForURL(/\/lab\//);
  await page.goto('/lab/index.html?path=02-masks.ipynb');
  await cell(page, 'def causal_mask').locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(answer);
  await page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true }).click();
  await expect(verdict(page)).toContainText('1 of 1 point');
  const seconds = (Date.now() - begin) / 1000;
  console.log(`first verdict after ${seconds.toFixed(1)} s`); // docs/lite.md has the figure
  expect(seconds).toBeLessThan(FIRST_VERDICT_S);
});

test('Check says in the tab what is wrong, then that it is right, for practice; widgets work', async ({ page }) => {
  test.skip(!withNumPy(), 'the site has no NumPy: give --pyodide the full distribution');
  await open(page, '02-masks');
  await run(page, 'import piplite');
  await run(page, 'import math');
  await run(page, 'import matplotlib.pyplot');
  await run(page, 'predict.mask(');
  await expect(page.locator('.tfkit-predict').first()).toBeVisible();

  await run(page, 'def causal_mask', WRONG);
  await cell(page, 'def causal_mask').locator('.cm-content').click();
  await page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true }).click();
  await expect(verdict(page)).toContainText('Your mask hides nothing: every position sees the whole future.');
  await expect(verdict(page)).toContainText('causal_mask with length = 2');
  await expect(verdict(page)).toContainText('This is a practice verdict, made in this tab, and not a grade.');

  await run(page, 'def causal_mask', right('masks.causal', 'lower_triangle'));
  await run(page, 'check("masks.causal")');
  await expect(verdict(page)).toContainText('passed');
  await expect(verdict(page)).toContainText('1 of 1 point');
  await expect(verdict(page)).toContainText('This is a practice verdict');
  await expect(page.locator('.jp-StatusBar-Widget, #jp-main-statusbar')).toContainText(/Course 1\/\d+/);
});

test('the exercises of training are checked in the tab, though it has no tokenizers', async ({ page }) => {
  test.skip(!withNumPy(), 'the site has no NumPy: give --pyodide the full distribution');
  await open(page, '06-training');
  await run(page, 'import piplite');
  await run(page, 'import math');
  for (const [name, exercise, style] of [
    ['noam_rate', 'training.noam', 'textbook'],
    ['adamw_step', 'training.adamw', 'torch_optimizer'],
    ['learn_bpe', 'tokenizers.bpe_train', 'textbook']
  ]) {
    await run(page, `def ${name}`, right(exercise, style));
    await run(page, `check("${exercise}")`);
    await expect(page.locator('.tfkit-Verdict').filter({ hasText: exercise })).toContainText('✓ passed');
  }
});
