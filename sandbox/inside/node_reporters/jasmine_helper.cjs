'use strict';
// A helper of jasmine: adds our reporter to whatever the repository has.
const channel = require('./channel.cjs');

const report = channel.take();
const paths = new Map();

function fileOf(result) {
  return result.filename || paths.get(result.id) || '';
}

function follow(env) {
  const { send } = report;
  const seen = new Set();
  const titles = [];
  let bad = 0;
  const begin = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    send({ e: 'file', f: file });
  };
  env.addReporter({
    suiteStarted: (result) => titles.push(String(result.description)),
    suiteDone: (result) => {
      titles.pop();
      if (!(result.failedExpectations || []).length) return;
      bad += 1;
      send(Object.assign({ e: 'test', f: fileOf(result), t: titles.concat(String(result.description), '(suite)'), o: 'failed', s: 0 }, why(result)));
    },
    specStarted: (result) => {
      begin(fileOf(result));
      send({ e: 'start', f: fileOf(result), t: titles.concat(String(result.description)) });
    },
    specDone: (result) => {
      begin(fileOf(result));
      const outcome = { passed: 'passed', failed: 'failed' }[result.status] || 'skipped';
      bad += outcome === 'failed' ? 1 : 0;
      const record = { e: 'test', f: fileOf(result), t: titles.concat(String(result.description)), o: outcome, s: channel.seconds(result.duration) };
      send(outcome === 'failed' ? Object.assign(record, why(result)) : record);
    },
    jasmineDone: (result) => {
      seen.forEach((file) => send({ e: 'end', f: file }));
      (result.failedExpectations || []).forEach((one) => send({ e: 'broken', f: one.filename || '', m: channel.cut(one.stack || one.message) }));
      send({ e: 'done', bad: bad || (result.overallStatus === 'failed' ? 1 : 0) });
    },
  });
}

function why(result) {
  const first = (result.failedExpectations || [])[0] || {};
  return { x: first.matcherName || 'Error', m: channel.cut(first.message), st: channel.cut(first.stack) };
}

if (report) follow(jasmine.getEnv());
