// A reporter of node:test. Tests run in a process of their own below this one.
import channel from './channel.cjs';

const report = channel.take();
const file = report.asked.files[0];
const stack = [];

function failureOf(details) {
  const outer = (details && details.error) || {};
  return channel.failure(outer.cause instanceof Error || (outer.cause && typeof outer.cause === 'object') ? outer.cause : outer);
}

// The runner itself counts the file as a test where it has no other, or where its process ends badly.
function isFile(data) {
  return data.nesting === 0 && (data.name === file || file.endsWith('/' + data.name));
}

function tell(data, passed) {
  const names = [...stack.slice(0, data.nesting), String(data.name)];
  if (isFile(data)) {
    if (!passed) report.send({ e: 'broken', f: file, m: channel.cut(failureOf(data.details).st || failureOf(data.details).m) });
    return;
  }
  const quiet = data.skip !== undefined || data.todo !== undefined;
  const record = { e: 'test', f: file, t: names, o: quiet ? 'skipped' : passed ? 'passed' : 'failed', s: channel.seconds(data.details && data.details.duration_ms) };
  report.send(record.o === 'failed' ? Object.assign(record, failureOf(data.details)) : record);
}

export default async function* reporter(source) {
  let bad = 0;
  report.send({ e: 'file', f: file });
  for await (const event of source) {
    const data = event.data || {};
    if (event.type === 'test:start') {
      stack[data.nesting] = String(data.name);
      stack.length = data.nesting + 1;
      if (!isFile(data)) report.send({ e: 'start', f: file, t: [...stack] });
    } else if (event.type === 'test:pass') {
      tell(data, true);
    } else if (event.type === 'test:fail') {
      bad += 1;
      tell(data, false);
    } else if (event.type === 'test:stdout' || event.type === 'test:stderr') {
      yield String(data.message);
    }
  }
  report.send({ e: 'end', f: file });
  report.send({ e: 'done', bad });
}
