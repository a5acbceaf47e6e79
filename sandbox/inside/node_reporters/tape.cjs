'use strict';
// Follows tape in the process of one test file, by the harness's own stream of objects.
const channel = require('./channel.cjs');

const report = channel.take();

function follow() {
  const { send, asked } = report;
  const file = asked.files[0];
  const tape = require(require.resolve('tape', { paths: [file, process.cwd()] }));
  const tests = new Map();
  let bad = 0;
  send({ e: 'file', f: file });
  tape.createStream({ objectMode: true }).on('data', (row) => {
    if (row.type === 'test') {
      const names = [String(row.name)]; // as tape writes them: flat
      tests.set(row.id, { names, skip: row.skip || row.todo, wrong: null, since: Date.now() });
      if (!row.skip) send({ e: 'start', f: file, t: names });
    } else if (row.type === 'assert') {
      const test = tests.get(row.test);
      if (test && !row.ok && !row.todo && !row.skip && !test.wrong) test.wrong = why(row);
    } else if (row.type === 'end') {
      end(tests.get(row.test));
    }
  });

  function why(row) {
    const error = row.error instanceof Error ? row.error : null;
    const told = channel.failure(error || { name: 'AssertionError', message: String(row.name), stack: '' });
    const message = String(row.name) + (row.operator === 'error' ? '' : '\n' + channel.failure({ expected: row.expected, actual: row.actual }).m);
    const thrown = error && row.operator === 'fail' && row.actual === undefined;
    return { x: row.operator || told.x, m: channel.cut(thrown ? told.m : message), st: channel.cut(told.st || (row.at ? 'at ' + row.at : '')) };
  }

  function end(test) {
    if (!test || test.told) return;
    test.told = true;
    const outcome = test.skip ? 'skipped' : test.wrong ? 'failed' : 'passed';
    bad += outcome === 'failed' ? 1 : 0;
    send(Object.assign({ e: 'test', f: file, t: test.names, o: outcome, s: (Date.now() - test.since) / 1000 }, outcome === 'failed' ? test.wrong : {}));
  }

  process.prependListener('exit', () => { // tape's own ends the process at once
    tests.forEach((test) => {
      if (!test.told && !test.skip) test.wrong = test.wrong || { x: 'exit', m: 'the program ended before this test', st: '' };
      end(test);
    });
    send({ e: 'end', f: file });
    send({ e: 'done', bad });
  });
}

if (report) follow();
