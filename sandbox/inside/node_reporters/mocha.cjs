'use strict';
// A reporter of mocha, every release since 4.
const channel = require('./channel.cjs');

const report = channel.take();

function titles(runnable) {
  const found = [];
  for (let one = runnable; one; one = one.parent) if (one.title) found.unshift(String(one.title));
  return found;
}

function fileOf(runnable) {
  for (let one = runnable; one; one = one.parent) if (one.file) return one.file;
  return '';
}

function narrow(suite, isWanted) {
  suite.tests = suite.tests.filter(isWanted);
  suite.suites.forEach((inner) => narrow(inner, isWanted));
  suite.suites = suite.suites.filter((inner) => inner.total() > 0);
}

module.exports = class Reporter {
  constructor(runner) {
    const { send, asked } = report;
    const told = new Set();
    const files = asked.files && new Set(asked.files);
    if (files) narrow(runner.suite, (test) => files.has(fileOf(test)));
    const plain = (test) => titles(test).map((one) => one.replace(/\s+/g, ' ').trim()).join(' > ');
    const wanted = asked.titles && new Set(asked.titles.map((name) => name.slice(name.indexOf(' :: ') + 4)));
    if (wanted) narrow(runner.suite, (test) => wanted.has(plain(test)));
    const seen = new Set();
    runner.suite.eachTest((test) => {
      if (!seen.has(fileOf(test))) {
        seen.add(fileOf(test));
        send({ e: 'file', f: fileOf(test) });
      }
    });
    const say = (test, outcome, more) => {
      told.add(test);
      send(Object.assign({ e: 'test', f: fileOf(test), t: titles(test), o: outcome, s: channel.seconds(test.duration) }, more));
    };
    runner.on('test', (test) => send({ e: 'start', f: fileOf(test), t: titles(test) }));
    runner.on('pass', (test) => say(test, 'passed'));
    runner.on('pending', (test) => say(test, 'skipped'));
    runner.on('fail', (test, error) => {
      const why = channel.failure(error);
      if (test.type !== 'hook') {
        say(test, 'failed', why);
        return;
      }
      const left = [];
      test.parent.eachTest((one) => {
        if (!told.has(one)) left.push(one);
      });
      if (left.length) left.forEach((one) => say(one, 'failed', Object.assign({ w: 'setup' }, why)));
      else say(test, 'failed', why);
    });
    runner.on('end', () => {
      seen.forEach((file) => send({ e: 'end', f: file }));
      send({ e: 'done', bad: runner.failures || 0 });
    });
  }
};
