const { expect, test } = require('@playwright/test');
const { accessible, command, lab, shot, theme } = require('../helpers');

const ASSIGNMENT = 'section[aria-label="02-masks"]';
const STUDENTS = `${ASSIGNMENT} .tfkit-Class-table tbody tr`;

test('the class panel tells how the class does, and opens a submission', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-class');
  const panel = page.locator('#tfkit-class');
  await expect(panel.locator(STUDENTS)).toHaveCount(3);
  await expect(panel.locator(STUDENTS).nth(1)).toContainText('not yet right own position hidden');
  await expect(panel.locator(`${ASSIGNMENT} ol li`)).toHaveText('own position hidden (masks.causal): 2 students');
  const places = panel.locator('.tfkit-Leaderboard tbody tr');
  await expect(places).toHaveText(['1Ada0.6740.104', '2somebody0.8210.251']);
  await expect(panel.locator('.tfkit-Leaderboard')).toContainText('1 other is not listed');
  const only = panel.locator(ASSIGNMENT).getByRole('checkbox', { name: 'Only those who have not passed everything' });
  await only.check();
  await expect(panel.locator(`${STUDENTS}:visible`)).toHaveCount(2);
  await shot(page, 'class-panel-open');
  await only.uncheck();
  await accessible(page, '#tfkit-class');
  await panel.locator(ASSIGNMENT).getByRole('button', { name: 'ben' }).click();
  await page.waitForFunction(
    () => window.jupyterapp.shell.currentWidget?.context?.path === 'class/autograded/ben/02-masks/02-masks.ipynb'
  );
  await shot(page, 'class-panel');
});

test('grading starts in a terminal of the course folder', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-class');
  await page.locator(`#tfkit-class ${ASSIGNMENT}`).getByRole('button', { name: 'Grade in a terminal' }).click();
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

test('the class is watched live, by number and by name where that is asked', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:class-page');
  const now = page.locator('#tfkit-class .tfkit-Live');
  const row = now.locator('tbody tr', { has: page.locator('th', { hasText: 'masks.causal' }) });
  await expect(row.locator('td')).toHaveText(['3', '1', '2']);
  await expect(now).toContainText('own position hidden: 3 students');
  await expect(now).not.toContainText('ben');
  await now.getByRole('checkbox', { name: 'Names' }).check();
  await expect(now).toContainText('ben · 6 checks failed in 24 min');
  await now.getByRole('checkbox', { name: 'Names' }).uncheck();
  await expect(now).not.toContainText('ben');
  await expect(page.locator('#tfkit-class .tfkit-Predictions')).toContainText('How many parameters with 8 heads?');
  await accessible(page, '#tfkit-class');
  await shot(page, 'class-live');
  await theme(page, 'Dark');
  await accessible(page, '#tfkit-class');
  await shot(page, 'class-live-dark');
});

test('answers are marked by the rubric, by key, and a request is answered', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:marking');
  const marking = page.locator('#tfkit-marking');
  const group = marking.locator('.tfkit-Group').first();
  await expect(group.locator('summary')).toContainText('3 alike answers');
  await expect(group.locator('.tfkit-Prose strong').first()).toHaveText('sees the next token');
  await expect(group.locator('math').first()).toBeVisible();
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking');
  await group.locator('.tfkit-RubricItem input').first().focus();
  await page.keyboard.press('1');
  await expect(group.getByLabel('Points')).toHaveValue('1');
  await page.keyboard.press('Control+Enter');
  await expect(marking.locator('.tfkit-Group').first()).toContainText('✓ marked');
  await marking.getByRole('button', { name: 'Regrade requests' }).click();
  const asked = marking.locator('.tfkit-Request');
  await expect(asked).toHaveCount(2);
  await expect(asked.first()).toContainText('My mask hides the own position on purpose');
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking-requests');
  await asked.first().getByLabel('A sentence for the student').fill('A position may see itself here.');
  await asked.first().getByRole('button', { name: 'Decline' }).click();
  await expect(asked).toHaveCount(2); // one waits, one is below the answered ones
  await expect(marking).toContainText('1 request waits for an answer');
  await theme(page, 'Dark');
  await page.setViewportSize({ width: 380, height: 900 });
  await command(page, 'application:toggle-left-area');
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking-requests-narrow-dark');
});
