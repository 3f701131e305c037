const { expect, test } = require('@playwright/test');
const { activate, command, lab, shot } = require('../helpers');

const view = page => page.getByRole('group', { name: 'Bag of words' }).locator('visible=true').first();

test('a view from a package of its own is drawn live, and again without a kernel by its own plugin', async ({
  page
}) => {
  await lab(page, 'plugin.ipynb');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  await expect(view(page)).toContainText('be2', { timeout: 60000 });
  await command(page, 'docmanager:save');
  await command(page, 'kernelmenu:shutdown');

  await lab(page, 'plugin.ipynb');
  await expect(view(page)).toContainText('be2');
  await expect(page.locator('body')).not.toContainText('no view draws');
  await shot(page, 'plugin-reopened');
});
