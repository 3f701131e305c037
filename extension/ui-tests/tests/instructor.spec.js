const { expect, test } = require('@playwright/test');
const { accessible, command, lab, shot } = require('../helpers');

const STUDENTS = '.tfkit-Class-table:not(.tfkit-Leaderboard *) tbody tr';

test('the class panel tells how the class does, and opens a submission', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-class');
  const panel = page.locator('#tfkit-class');
  await expect(panel.locator(STUDENTS)).toHaveCount(3);
  await expect(panel.locator(STUDENTS).nth(1)).toContainText('not yet right own position hidden');
  await expect(panel.locator('ol li')).toHaveText('own position hidden (masks.causal): 2 students');
  const places = panel.locator('.tfkit-Leaderboard tbody tr');
  await expect(places).toHaveText(['1Ada0.6740.104', '2somebody0.8210.251']);
  await expect(panel.locator('.tfkit-Leaderboard')).toContainText('1 other is not listed');
  const only = panel.getByRole('checkbox', { name: 'Only those who have not passed everything' });
  await only.check();
  await expect(panel.locator(`${STUDENTS}:visible`)).toHaveCount(2);
  await shot(page, 'class-panel-open');
  await only.uncheck();
  await accessible(page, '#tfkit-class');
  await panel.getByRole('button', { name: 'ben' }).click();
  await page.waitForFunction(
    () => window.jupyterapp.shell.currentWidget?.context?.path === 'class/autograded/ben/02-masks/02-masks.ipynb'
  );
  await shot(page, 'class-panel');
});

test('grading starts in a terminal of the course folder', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-class');
  await page.locator('#tfkit-class').getByRole('button', { name: 'Grade in a terminal' }).click();
  const text = () =>
    page.evaluate(() => {
      const buffer = window.jupyterapp.shell.currentWidget?.content?._term?.buffer.active;
      return buffer
        ? Array.from({ length: buffer.length }, (_, i) => buffer.getLine(i).translateToString(true)).join('\n')
        : '';
    });
  await expect.poll(text, { timeout: 60000 }).toContain("-m autograder grade . '02-masks'");
  await expect.poll(text, { timeout: 90000 }).toContain('has no nbgrader_config.py');
});
