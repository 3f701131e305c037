const course = require('./course.config');

// the first minute of a new student; started by `python docs/film.py`, which puts the frames together
module.exports = { ...course, testMatch: 'film.spec.js', timeout: 400000 };
