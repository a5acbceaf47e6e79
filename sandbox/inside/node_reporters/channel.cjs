'use strict';
// Loaded before everything else of a runner's process. Signs what our reporter says; code under test never sees the key.
const fs = require('fs');
const crypto = require('crypto');

const LIMIT = 6000;
const folder = process.env.DUALGATE_REPORT;
delete process.env.DUALGATE_REPORT;
const write = fs.writeSync;
const stringify = JSON.stringify;
const createHmac = crypto.createHmac;
const bytes = Buffer.from;
const wide = Number;

// Programs under test that look at the options of Node, or hand them on, see the repository's own.
for (let place = process.execArgv.length - 2; place >= 0; place -= 1) {
  if (process.execArgv[place] === '-r' && process.execArgv[place + 1].startsWith(__dirname)) process.execArgv.splice(place, 2);
}

function open() {
  const key = fs.readFileSync(folder + '/key');
  fs.unlinkSync(folder + '/key');
  const asked = JSON.parse(fs.readFileSync(folder + '/asked', 'utf8'));
  const descriptor = fs.openSync(folder + '/pipe', 'w');
  let sequence = 0;
  function send(record) {
    const body = stringify(record);
    const mac = createHmac('sha256', key).update(sequence + ':' + body).digest('hex').slice(0, 32);
    sequence += 1;
    let line = bytes(mac + ' ' + body + '\n');
    while (line.length) line = line.subarray(write(descriptor, line, 0, line.length));
  }
  return { send, asked };
}

let own = null;
if (folder) {
  try {
    own = open();
  } catch (error) {
    if (error.code !== 'ENOENT') throw error; // a second process of the same runner: the first one reports
  }
}

// Once: whoever comes later, comes from the tests.
exports.take = function take() {
  const mine = own;
  own = null;
  return mine;
};

// What this process was asked, which is no secret.
exports.given = () => ({ asked: own ? own.asked : null });

exports.cut = function cut(text) {
  const whole = String(text === undefined || text === null ? '' : text);
  return whole.length <= LIMIT ? whole : whole.slice(0, LIMIT / 3) + '\n[...]\n' + whole.slice(-LIMIT * 2 / 3);
};

exports.failure = function failure(error) {
  if (error === null || typeof error !== 'object') return { x: typeof error, m: exports.cut(error), st: '' };
  const name = String(error.name || (error.constructor && error.constructor.name) || 'Error');
  let message = String(error.message === undefined ? '' : error.message);
  if (error.expected !== undefined || error.actual !== undefined) message += difference(error);
  return { x: name, m: exports.cut(message), st: exports.cut(String(error.stack || '') + causes(error)) };
};

// What an error was made from often says alone what is wrong.
function causes(error) {
  let text = '';
  let inner = error.cause;
  for (let depth = 0; depth < 4 && inner !== null && typeof inner === 'object'; depth += 1) {
    text += '\nCaused by: ' + String(inner.stack || inner.message || inner);
    inner = inner.cause;
  }
  return text;
}

function difference(error) {
  const shown = (value) => {
    try {
      return require('util').inspect(value, { depth: 3 }).slice(0, 800);
    } catch (_) {
      return '?';
    }
  };
  return '\nexpected: ' + shown(error.expected) + '\nactual: ' + shown(error.actual);
}

exports.seconds = (milliseconds) => (wide(milliseconds) || 0) / 1000;
