/** The course in a tab: no server but one for files, and no request to anywhere else. */
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { expect, test } = require('@playwright/test');

const HERE = /^(http:\/\/127\.0\.0\.1:8898|data:|blob:)/;
const cell = (page, n) => page.locator('.jp-Notebook .jp-Cell').nth(n);
const outputs = page => page.locator('.jp-OutputArea-output');

test.skip(
  !process.env.TFKIT_SITE,
  'set TFKIT_SITE to a site that course.build --lite wrote with --pyodide (docs/lite.md)'
);

let away;
test.beforeEach(async ({ context, page }) => {
  away = [];
  context.on('request', request => HERE.test(request.url()) || away.push(request.url()));
  await page.goto('/lab/index.html?path=02-masks.ipynb');
  await cell(page, 0).waitFor({ timeout: 60000 });
});
test.afterEach(() => expect(away).toEqual([]));

async function run(page, n, source) {
  await cell(page, n).locator('.cm-content').click();
  if (source) {
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(source);
  }
  await page.keyboard.press('Shift+Enter');
}

test('the kernel works in the tab, and the notebook is handed in as a file', async ({ page }) => {
  const download = page.waitForEvent('download');
  await page.locator('[data-jp-item-name="tfkit-hand-in"]').locator('jp-button, button').first().click();
  await page.locator('.jp-Dialog input').fill('ada');
  await page.locator('.jp-Dialog .jp-mod-accept').click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^02-masks_ada_attempt_\d{8}T\d{6}Z_02-masks\.ipynb$/);
  const { cells } = JSON.parse(readFileSync(await file.path(), 'utf-8'));
  expect(cells.some(one => one.id === 'tab-start')).toBe(false);
  expect(cells.some(one => one.metadata.nbgrader?.grade_id === 'solution-masks-causal')).toBe(true);
  await run(page, 2, 'import sys; print(sys.platform)');
  await expect(outputs(page).first()).toContainText('emscripten');
});

test('a right answer passes, and its verdict is for practice', async ({ page }) => {
  test.skip(
    !process.env.TFKIT_SITE_NUMPY,
    'set TFKIT_SITE_NUMPY=1 where the site has the full Pyodide, NumPy included'
  );
  const answer = execFileSync('autograder', ['corpus', 'show', 'masks.causal', 'lower_triangle'], {
    encoding: 'utf-8'
  });
  await run(page, 1);
  await run(page, 2, answer);
  await run(page, 3, 'from autograder import check\ncheck("masks.causal")');
  await expect(page.locator('.tfkit-verdict').first()).toContainText('practice verdict');
  await expect(page.locator('.tfkit-verdict').first()).toContainText('masks.causal');
});
