const { defineConfig } = require('@playwright/test');

module.exports = defineConfig({
  testDir: 'tests',
  timeout: 180000,
  expect: { timeout: 30000 }, // a kernel may have to start, on a busy machine
  retries: 1, // a second failure is a fault; a pass after one is listed as flaky
  workers: 1, // one server, one folder: the tests build on one another's files
  outputDir: '.tmp/results',
  reporter: 'list',
  use: {
    viewport: { width: 1360, height: 1000 },
    launchOptions: { executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] }
  },
  webServer: {
    command: 'python prepare.py .tmp/root && python -m jupyterlab --config jupyter_config.py',
    url: `http://127.0.0.1:${process.env.UI_PORT || 8899}/api/status?token=tests`,
    timeout: 300000
  }
});
