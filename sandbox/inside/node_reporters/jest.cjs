'use strict';
// A reporter of jest, every release since 20.
const channel = require('./channel.cjs');

const report = channel.take();
const OUTCOMES = { passed: 'passed', failed: 'failed', pending: 'skipped', skipped: 'skipped', disabled: 'skipped', todo: 'skipped' };

function failureOf(one) {
  const detail = (one.failureDetails || [])[0];
  const text = (one.failureMessages || []).join('\n');
  const error = detail && detail.error ? detail.error : detail;
  const named = /^(?:\s*Error: )?\s*([A-Z]\w*(?:Error|Exception))\b/.exec(text);
  const name = (error && typeof error === 'object' && !error.matcherResult && (error.name || error.type)) || (named ? named[1] : 'Error');
  return { x: String(name), m: channel.cut(text.split('\n    at ')[0]), st: channel.cut(text) };
}

module.exports = class Reporter {
  onTestStart(test) {
    report.send({ e: 'file', f: test.path });
  }

  onTestCaseStart(test, info) {
    if (info.mode !== 'skip' && info.mode !== 'todo') report.send({ e: 'start', f: test.path, t: info.ancestorTitles.concat(info.title).map(String) });
  }

  onTestResult(test, result) {
    for (const one of result.testResults) this.tell(test.path, one);
    const error = result.testExecError || (!result.testResults.length && result.failureMessage);
    if (error) report.send({ e: 'broken', f: test.path, m: channel.cut(result.failureMessage || error.stack || error.message || error) });
    else report.send({ e: 'end', f: test.path });
  }

  tell(path, one) {
    const outcome = OUTCOMES[one.status];
    if (!outcome) return;
    const record = { e: 'test', f: path, t: one.ancestorTitles.concat(one.title).map(String), o: outcome, s: channel.seconds(one.duration) };
    report.send(outcome === 'failed' ? Object.assign(record, failureOf(one)) : record);
  }

  onRunComplete(_, results) {
    report.send({ e: 'done', bad: results.success ? 0 : 1 });
  }
};
