const { expect, test } = require('@playwright/test');
const { accessible, activate, command, lab, theme } = require('../helpers');

const RIGHT = ['length = ids.shape[1]', 'past = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()',
  'real = (ids != pad_id)[:, None, None, :]', 'return past & real']; // prettier-ignore

test('lines are put in order by keys alone, and the order is judged by running it', async ({ page }) => {
  const others = [];
  page.on('request', request => !request.url().includes('127.0.0.1') && others.push(request.url()));
  await lab(page, 'predict.ipynb'); // its third cell
  await activate(page, 2);
  await command(page, 'notebook:run-cell');
  const ordering = page.getByRole('group', { name: 'Lines in order' });
  const line = text => ordering.getByRole('button', { name: text });
  const answer = ordering.getByRole('list', { name: 'Your answer' });
  await line(`Add: ${RIGHT[0]}`).focus();
  await page.keyboard.press('Enter');
  for (const text of [RIGHT[2], RIGHT[3], RIGHT[1]]) {
    await line(`Add: ${text}`).focus();
    await page.keyboard.press('Space');
  }
  await expect(answer.getByRole('listitem')).toHaveCount(4);
  await expect(ordering.getByRole('status')).toHaveText(`Line 4 of 4, indentation 0: ${RIGHT[1]}`);
  for (const [name, look] of [
    ['Dark', 'dark'],
    ['Light', 'light']
  ]) {
    await theme(page, name);
    await accessible(page, '.tfkit-ordering');
    await ordering.screenshot({ path: `screenshots/ordering-${look}.png` });
  }
  const check = ordering.getByRole('button', { name: 'Check the order' });
  await check.focus();
  await page.keyboard.press('Enter');
  await expect(ordering.getByRole('alert')).toContainText('Line 3 of your order is the first that is out of place', {
    timeout: 120000 // it is run several times, each in a box
  });
  await line(`Line 4 of 4, indentation 0: ${RIGHT[1]}`).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect(ordering.getByRole('alert')).toHaveText('');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  await expect(ordering.getByRole('status')).toHaveText(`Line 3 of 4, indentation 0: ${RIGHT[1]}`);
  await command(page, 'application:toggle-left-area');
  await page.setViewportSize({ width: 390, height: 900 });
  await ordering.screenshot({ path: 'screenshots/ordering-narrow.png' });
  await page.setViewportSize({ width: 1360, height: 1000 });
  await check.focus();
  await page.keyboard.press('Enter');
  await expect(ordering.getByRole('alert')).toContainText('Your order is right', { timeout: 120000 });
  await accessible(page, '.tfkit-ordering');
  expect(others).toEqual([]);
});
