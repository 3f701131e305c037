const { expect, test } = require('@playwright/test');
const { activate, lab, language } = require('../helpers');

test('the hunt button opens a hunt in the exercise at hand, with its symptom', async ({ page }) => {
  const others = [];
  page.on('request', request => !request.url().includes('127.0.0.1') && others.push(request.url()));
  await lab(page, '02-masks/02-masks.ipynb');
  const button = page
    .locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar')
    .getByText('Bug hunt', { exact: true });
  await activate(page, { role: 'exercise', exercise: 'masks.causal' });
  const before = await page.evaluate(() => window.jupyterapp.shell.currentWidget.context?.path);
  await button.click();
  await page.waitForFunction(was => {
    const now = window.jupyterapp.shell.currentWidget.context?.path;
    return now !== was && /masks\.causal-\d+\.ipynb$/.test(now); // the number is higher where a hunt is there already
  }, before);
  const panel = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden)');
  const card = panel.locator('.tfkit-is-hunt');
  await expect(card).toContainText('The symptom', { timeout: 120000 }); // the code is run in a process of its own
  await expect(panel.getByRole('heading', { name: /^Bug hunt: / })).toBeVisible();
  await page.screenshot({ path: 'screenshots/hunt-light.png' });
  expect(others).toEqual([]);
});

test('a hunt speaks French in a French lab, and other notebooks have no button', async ({ page }) => {
  await lab(page, 'predict.ipynb');
  await expect(page.locator('.jp-NotebookPanel-toolbar').getByText('Bug hunt', { exact: true })).toBeHidden();
  await language(page, 'fr_FR');
  try {
    await lab(page, '02-masks/02-masks.ipynb');
    await page
      .locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar')
      .getByText('Chasse aux fautes', { exact: true })
      .click();
    const panel = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden)');
    await expect(panel.getByRole('heading', { name: /^Chasse aux fautes/ })).toBeVisible();
    await expect(panel.locator('.tfkit-is-hunt')).toBeVisible({ timeout: 120000 });
    await page.screenshot({ path: 'screenshots/hunt-french.png' });
  } finally {
    await language(page, 'default');
  }
});
