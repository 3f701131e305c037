const { join } = require('node:path');
const pictures = require('./config');

// the lab on the whole course; started by `python docs/pictures.py` after the other pictures, on the same port
module.exports = {
  ...pictures,
  testMatch: 'course.spec.js',
  webServer: {
    ...pictures.webServer,
    command:
      'python pictures/make_course.py .tmp/course && python -m jupyterlab --config jupyter_config.py --ServerApp.root_dir=.tmp/course',
    cwd: join(__dirname, '..')
  }
};
