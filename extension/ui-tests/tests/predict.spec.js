const { expect, test } = require('@playwright/test');
const { accessible, activate, command, lab, theme } = require('../helpers');

test('a prediction is sealed, opens the cell below, is compared, and is in the class panel', async ({ page }) => {
  await lab(page, 'predict.ipynb');
  const output = n => page.locator('.jp-Cell').nth(n).locator('.jp-Cell-outputArea');
  await activate(page, 1);
  await command(page, 'notebook:run-cell');
  await expect(output(1)).toContainText('Predict first');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  const form = page.getByRole('form', { name: 'Prediction 09.noise' });
  await form.getByLabel('How many are True').fill('9');
  await form.getByLabel('What shape').fill('4 x 4');
  await form.getByLabel('yes').check();
  await form.getByRole('button', { name: '0', exact: true }).focus();
  await page.keyboard.press('Space');
  await form.getByRole('button', { name: '1', exact: true }).click();
  for (const [name, look] of [
    ['Dark', 'dark'],
    ['Light', 'light']
  ]) {
    await theme(page, name);
    await accessible(page, '.tfkit-predict');
    await form.screenshot({ path: `screenshots/prediction-${look}.png` });
  }
  await command(page, 'application:toggle-left-area');
  await page.setViewportSize({ width: 380, height: 900 });
  await form.screenshot({ path: 'screenshots/prediction-narrow.png' });
  await page.setViewportSize({ width: 1360, height: 1000 });
  await form.getByRole('button', { name: 'Seal the prediction' }).click();
  await expect(output(0)).toContainText('a cell below compares it');
  await expect(form).toHaveCount(0);

  await activate(page, 1);
  await command(page, 'notebook:run-cell');
  await expect(output(1)).toContainText('3 of 4 as you predicted');
  await accessible(page, '.tfkit-predict');
  await output(1).screenshot({ path: 'screenshots/prediction-compared.png' });
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.context.save());

  await command(page, 'tfkit:show-class');
  const section = page.getByRole('region', { name: 'Predictions' });
  await section.getByRole('combobox').selectOption('09.noise');
  await expect(section).toContainText('1 of 1');
  await section.getByRole('combobox').selectOption('03.parameters');
  await expect(section.locator('tbody tr')).toHaveText(
    ['131328 1', '1050624 ✓ 2', '8404992 1'].map(text => new RegExp(text.replace(/ /g, '\\s*')))
  );
  const names = page.locator('#tfkit-class').getByLabel('Names');
  await names.uncheck();
  await expect(section).not.toContainText('ada');
  await names.check();
  await expect(section).toContainText('ada, chen');
  await accessible(page, '.tfkit-Predictions');
  await page.locator('#tfkit-class').screenshot({ path: 'screenshots/class-predictions.png' });

  await page.reload(); // as a saved notebook shows it, with no widget
  await page.waitForFunction(() => window.jupyterapp);
  await lab(page, 'predict.ipynb');
  await expect(output(0)).toContainText('a cell below compares it');
});
