'use strict';
// Starts jest with our options, where programs under test that read their arguments see the repository's own.
const path = require('path');
const channel = require('./channel.cjs');

const { asked } = channel.given();
process.argv = [process.execPath, path.join(asked.package, 'bin/jest.js')].concat(asked.shown);
process.env.NODE_ENV = process.env.NODE_ENV || 'test';
require(asked.package).run(asked.words);
