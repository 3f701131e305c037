const { join } = require('node:path');
const tests = require('../playwright.config');

module.exports = {
  ...tests,
  testDir: '.',
  timeout: 600000,
  webServer: {
    ...tests.webServer,
    command: 'python timings/data.py .tmp/root && python -m jupyterlab --config jupyter_config.py',
    cwd: join(__dirname, '..')
  }
};
