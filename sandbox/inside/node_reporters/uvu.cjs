'use strict';
// Follows uvu in the process of one test file: the environment's copy of it tells `__dualgate_uvu` of each test.
const channel = require('./channel.cjs');

const report = channel.take();

function follow() {
  const { send, asked } = report;
  const file = asked.files[0];
  const began = new Map();
  let bad = 0;
  const titles = (suite, name) => (suite ? [String(suite), String(name)] : [String(name)]);
  send({ e: 'file', f: file });
  Object.defineProperty(globalThis, '__dualgate_uvu', {
    value: Object.freeze({
      start(suite, name) {
        began.set(titles(suite, name).join('\n'), Date.now());
        send({ e: 'start', f: file, t: titles(suite, name) });
      },
      end(suite, name, error) {
        const names = titles(suite, name);
        const since = began.get(names.join('\n'));
        began.delete(names.join('\n'));
        const record = { e: 'test', f: file, t: names, o: error === undefined ? 'passed' : 'failed', s: since ? (Date.now() - since) / 1000 : 0 };
        bad += error === undefined ? 0 : 1;
        send(error === undefined ? record : Object.assign(record, channel.failure(error)));
      },
    }),
  });
  process.on('exit', (status) => {
    began.forEach((_, key) => send({ e: 'test', f: file, t: key.split('\n'), o: 'failed', s: 0, x: 'exit', m: 'the program ended in this test', st: '' }));
    send({ e: 'end', f: file });
    send({ e: 'done', bad: bad || (status ? 1 : 0) });
  });
}

if (report) follow();
