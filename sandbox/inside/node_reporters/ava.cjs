'use strict';
// Follows ava from its main process: every reporter of it is told each event. Tests run in processes or threads of their own.
const path = require('path');
const url = require('url');
const channel = require('./channel.cjs');

const report = channel.take();

function failureOf(event) {
  const error = event.err || {};
  const values = (error.values || []).map((one) => String(one.label) + ' ' + String(one.formatted)).join('\n');
  const original = error.originalError || error.cause || error;
  const message = [error.message || original.message || '', values].filter(Boolean).join('\n');
  return { x: String(error.name || original.name || 'Error'), m: channel.cut(message), st: channel.cut(error.stack || original.stack || '') };
}

function listen(status) {
  const open = new Map();
  const counts = { bad: 0 };
  const begin = (file) => {
    if (file && !open.has(file)) {
      open.set(file, null);
      report.send({ e: 'file', f: file });
    }
  };
  const tell = (event, outcome, more) => {
    begin(event.testFile);
    report.send(Object.assign({ e: 'test', f: event.testFile, t: [String(event.title)], o: outcome, s: channel.seconds(event.duration) }, more));
  };
  const broken = (event) => {
    counts.bad += 1;
    begin(event.testFile);
    const why = event.err ? failureOf(event) : { m: event.type, st: '' };
    open.set(event.testFile, (open.get(event.testFile) || '') + (why.st || why.m) + '\n');
  };
  status.on('stateChange', (event) => {
    if (event.type === 'test-passed') tell(event, event.knownFailing ? 'xfailed' : 'passed');
    else if (event.type === 'test-failed') {
      counts.bad += 1;
      tell(event, 'failed', failureOf(event));
    } else if (event.type === 'selected-test' && (event.skip || event.todo)) tell(event, 'skipped');
    else if (event.type === 'hook-failed') tell(event, 'failed', failureOf(event));
    else if (/^(uncaught-exception|unhandled-rejection|worker-failed|missing-ava-import|no-tests|internal-error|process-exit|shared-worker-error)$/.test(event.type)) broken(event);
  });
  return () => {
    open.forEach((text, file) => report.send(text === null ? { e: 'end', f: file } : { e: 'broken', f: file, m: channel.cut(text) }));
    report.send({ e: 'done', bad: counts.bad });
  };
}

function hook(Tap) {
  const start = Tap.prototype.startRun;
  const end = Tap.prototype.endRun;
  let finish = null;
  Tap.prototype.startRun = function startRun(plan) {
    finish = listen(plan.status);
    return start.apply(this, arguments);
  };
  Tap.prototype.endRun = function endRun() {
    if (finish) finish();
    return end.apply(this, arguments);
  };
}

if (report) {
  const place = path.join(report.asked.package, 'lib/reporters/tap.js');
  try {
    const loaded = require(place);
    hook(loaded.default || loaded);
  } catch (error) {
    if (error.code !== 'ERR_REQUIRE_ESM') throw error;
    import(url.pathToFileURL(place).href).then((loaded) => hook(loaded.default));
  }
}
