const { expect, test } = require('@playwright/test');
const { accessible, activate, command, lab, language, setSource, theme } = require('../helpers');

const ANSWER = `def suspected_lines():
    return [1]

def test_it(answer):
    assert answer(3).shape == (3, 3)

def repaired_code():
    return "import torch\\n\\ndef causal_mask(length):\\n    return torch.ones(length, length, dtype=torch.bool).tril()"`;

test('the hunt button opens one hunt after the other, each judged in its notebook', async ({ page }) => {
  const others = [];
  page.on('request', request => !request.url().includes('127.0.0.1') && others.push(request.url()));
  await lab(page, '02-masks/02-masks.ipynb');
  const button = page
    .locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar')
    .getByText('Bug hunt', { exact: true });
  await activate(page, { role: 'exercise', exercise: 'masks.causal' });
  await button.click();
  const opened = n =>
    page.waitForFunction(k => window.jupyterapp.shell.currentWidget.context?.path.endsWith(`-${k}.ipynb`), n);
  await opened(1);
  const panel = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden)');
  const card = panel.locator('.tfkit-is-hunt');
  await expect(card).toContainText('The symptom', { timeout: 120000 }); // the code is run in a process of its own
  await expect(panel.getByRole('heading', { name: /^Bug hunt: / })).toBeVisible();
  for (const [name, look] of [
    ['Dark', 'dark'],
    ['Light', 'light']
  ]) {
    await theme(page, name);
    await accessible(page, '.tfkit-is-hunt');
    await page.screenshot({ path: `screenshots/hunt-${look}.png` });
  }
  await activate(page, 2);
  await setSource(page, ANSWER);
  await command(page, 'notebook:run-cell-and-select-next');
  await command(page, 'notebook:run-cell');
  await expect(panel).toContainText('The repaired code passes all checks.', { timeout: 120000 });
  await accessible(page, '.jp-NotebookPanel:not(.lm-mod-hidden) .tfkit-verdict');
  await page.screenshot({ path: 'screenshots/hunt-judged.png' });
  await button.click(); // in the notebook of a hunt: the next one of the same exercise
  await opened(2);
  expect(await page.evaluate(() => window.jupyterapp.shell.currentWidget.context.path)).toBe(
    'hunts/masks.causal-2.ipynb'
  );
  await expect(card).toContainText('The symptom', { timeout: 120000 });
  await command(page, 'application:toggle-left-area');
  await page.setViewportSize({ width: 390, height: 900 });
  await page.screenshot({ path: 'screenshots/hunt-narrow.png' });
  expect(others).toEqual([]);
});

test('a hunt speaks French in a French lab, and other notebooks have no button', async ({ page }) => {
  await lab(page, 'predict.ipynb');
  await expect(page.locator('.jp-NotebookPanel-toolbar').getByText('Bug hunt', { exact: true })).toHaveCount(0);
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
