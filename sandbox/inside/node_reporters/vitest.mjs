// A reporter of vitest: 3 and newer by its own events, older ones by the tree of tasks.
import { createRequire } from 'node:module';

const channel = createRequire(import.meta.url)('./channel.cjs'); // by Node itself, whatever vitest does to this file
const report = channel.take();
const OUTCOMES = { pass: 'passed', passed: 'passed', fail: 'failed', failed: 'failed', skip: 'skipped', skipped: 'skipped', todo: 'skipped' };

function titles(task, isTop) {
  const found = [];
  for (let one = task; one && !isTop(one); one = one.suite || one.parent) if (one.name) found.unshift(String(one.name));
  return found;
}

function failureOf(errors) {
  const first = errors && errors[0];
  return first ? channel.failure(first) : { x: 'Error', m: 'failed', st: '' };
}

export default class Reporter {
  constructor() {
    this.told = new Set();
  }

  // 3 and newer

  onTestModuleStart(module) {
    report.send({ e: 'file', f: module.moduleId });
  }

  onTestCaseReady(test) {
    if (test.options && (test.options.mode === 'skip' || test.options.mode === 'todo')) return;
    report.send({ e: 'start', f: test.module.moduleId, t: titles(test, (one) => one.type === 'module') });
  }

  onTestModuleEnd(module) {
    this.told.add(module.moduleId);
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      const diagnostic = test.diagnostic();
      this.tell(module.moduleId, titles(test, (one) => one.type === 'module'), state, diagnostic && diagnostic.duration, errors);
    }
    const own = module.errors();
    const inner = [...module.children.allSuites()].flatMap((suite) => suite.errors());
    if (own.length || inner.length) this.broken(module.moduleId, [...own, ...inner]);
    else report.send({ e: 'end', f: module.moduleId });
  }

  onTestRunEnd(modules, unhandled, reason) {
    for (const error of unhandled) report.send({ e: 'stray', m: channel.cut(error.stack || error.message || error) });
    report.send({ e: 'done', bad: reason === 'passed' ? 0 : 1 });
  }

  // 0 to 2

  onCollected(files) {
    for (const file of files || []) report.send({ e: 'file', f: file.filepath });
  }

  onFinished(files, errors) {
    let bad = (errors || []).length;
    for (const file of files || []) {
      if (this.told.has(file.filepath)) continue;
      bad += file.result && file.result.state === 'fail' ? 1 : 0;
      this.walk(file.filepath, file.tasks);
      const own = file.result && file.result.errors;
      if (own && own.length) this.broken(file.filepath, own);
      else report.send({ e: 'end', f: file.filepath });
    }
    if (this.told.size) return;
    for (const error of errors || []) report.send({ e: 'stray', m: channel.cut((error && (error.stack || error.message)) || error) });
    report.send({ e: 'done', bad });
  }

  walk(path, tasks) {
    for (const task of tasks || []) {
      if (task.type === 'suite') {
        this.walk(path, task.tasks);
        continue;
      }
      const result = task.result || {};
      const state = task.mode === 'skip' || task.mode === 'todo' ? 'skip' : result.state;
      this.tell(path, titles(task, (one) => !one.suite && one.filepath), state, result.duration, result.errors || (result.error ? [result.error] : []));
    }
  }

  tell(path, names, state, duration, errors) {
    const outcome = OUTCOMES[state];
    if (!outcome) return;
    const record = { e: 'test', f: path, t: names, o: outcome, s: channel.seconds(duration) };
    report.send(outcome === 'failed' ? Object.assign(record, failureOf(errors)) : record);
  }

  broken(path, errors) {
    report.send({ e: 'broken', f: path, m: channel.cut(errors.map((error) => error.stack || error.message || String(error)).join('\n')) });
  }
}
