'use strict';
// Starts karma on the repository's configuration, with one browser of ours and our reporter in place of its own.
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const channel = require('./channel.cjs');

const report = channel.take();
const NAMES = ['karma.conf', '.config/karma.conf'];
const ENDINGS = ['.js', '.cjs', '.mjs', '.ts', '.coffee'];
const FLAGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--no-default-browser-check', '--disable-extensions',
  '--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows', '--disable-renderer-backgrounding', '--disable-component-update',
  '--disable-sync', '--disable-breakpad', '--force-device-scale-factor=1',
];

function configuration(words) {
  const named = words.filter((word) => !word.startsWith('-') && word !== 'start');
  const usual = [].concat(...NAMES.map((name) => ENDINGS.map((ending) => name + ending)));
  return path.resolve(named[0] || usual.find((name) => fs.existsSync(name)) || 'karma.conf.js');
}

// The browser's flags that the repository itself asks for, of the first one of this family.
function asked(config) {
  const wanted = (config.browsers || []).map((name) => (config.customLaunchers || {})[name]).filter((one) => one && /chrom/i.test(one.base || ''));
  return (wanted[0] && wanted[0].flags) || [];
}

function browser(flags) {
  function Launched(baseBrowserDecorator) {
    baseBrowserDecorator(this);
    this.name = 'Chromium';
    this.DEFAULT_CMD = { linux: '/usr/bin/chromium' };
    this.ENV_CMD = 'DUALGATE_BROWSER';
    this._getOptions = (url) => FLAGS.concat(flags, '--user-data-dir=' + this._tempDir, url);
  }
  Launched.$inject = ['baseBrowserDecorator'];
  return ['type', Launched];
}

// What the page says: only what it signed, each once and in order, is believed.
function listener(key) {
  let sequence = 0;
  const sha256 = (text) => crypto.createHash('sha256').update(text).digest('hex');
  return (line) => {
    const [number, mac] = String(line).split(' ', 2);
    const body = String(line).slice(number.length + mac.length + 2);
    if (number !== String(sequence) || mac !== sha256(key + sha256(key + sequence + ':' + body))) return null;
    sequence += 1;
    return JSON.parse(body);
  };
}

function reporter(base, key) {
  const heard = listener(key);
  const files = new Map(); // titles -> files that declare them, in their order
  const begun = new Set();
  let bad = 0;
  let complete = false;
  let forged = false;
  const place = (url) => {
    const inside = String(url).replace(/^\w+:\/\/[^/]*/, '').replace(/[?#].*$/, '');
    return inside.startsWith('/absolute/') ? inside.slice('/absolute'.length) : inside.startsWith('/base/') ? path.join(base, decodeURIComponent(inside.slice(6))) : '';
  };
  const begin = (file) => {
    if (!begun.has(file)) report.send({ e: 'file', f: file });
    begun.add(file);
  };
  const broken = (text) => {
    bad += 1;
    const match = /(?:at |\()(\w+:\/\/[^\s)]+?\/(?:base|absolute)\/[^\s)]+?):\d+(?::\d+)?/.exec(text);
    report.send({ e: 'broken', f: match ? place(match[1]) : '', m: channel.cut(text) });
  };
  const ended = ([success, skipped, time, log, ...titles]) => {
    const declared = files.get(titles.join('\u0001')) || [];
    const file = (declared.length > 1 ? declared.shift() : declared[0]) || '';
    begin(file);
    const record = { e: 'test', f: file, t: titles, o: skipped ? 'skipped' : success ? 'passed' : 'failed', s: channel.seconds(time) };
    if (record.o === 'failed') {
      bad += 1;
      const text = log.replace(/(\w+:\/\/localhost:\d+\/|\()base\//g, (_, before) => (before === '(' ? '(' : '') + base + '/').replace(/\?[0-9a-f]{16,}/g, '');
      Object.assign(record, { x: 'Error', m: channel.cut(text) || 'failed', st: '' });
    }
    report.send(record);
  };
  const hear = (line) => {
    const fields = heard(line);
    forged = forged || fields === null;
    if (forged) return;
    const [kind, ...rest] = fields;
    if (kind === 'declared') files.set(rest.slice(1).join('\u0001'), (files.get(rest.slice(1).join('\u0001')) || []).concat(place(rest[0])));
    else if (kind === 'result') ended(rest);
    else if (kind === 'complete') complete = true;
  };
  function Followed() {
    this.adapters = [];
    for (const name of ['onRunStart', 'onBrowserStart', 'onBrowserLog', 'onSpecComplete']) this[name] = () => {};
    this.onBrowserInfo = (_, info) => info && typeof info.dualgate === 'string' && hear(info.dualgate);
    this.onBrowserError = (_, error) => broken(String((error && error.message) || error));
    this.onRunComplete = (_, results) => {
      if (forged) report.send({ e: 'broken', f: '', m: 'the report of the page was written to by something else' });
      if (forged || !(complete || bad)) return; // the end was not reached: no word of it
      begun.forEach((file) => report.send({ e: 'end', f: file }));
      report.send({ e: 'done', bad: bad || (results.error ? 1 : 0) });
    };
  }
  return ['type', Followed];
}

// The page's key, once: its first script asks for it.
function keeper(key) {
  let left = key;
  function make() {
    return (request, response, next) => {
      if (!request.url.startsWith('/dualgate-key')) {
        next();
        return;
      }
      response.writeHead(left ? 200 : 404, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' });
      response.end(left);
      left = '';
    };
  }
  return ['factory', make];
}

function page(files) {
  files.unshift({ pattern: path.join(__dirname, 'karma_page.js'), included: true, served: true, watched: false });
}
page.$inject = ['config.files'];

async function main() {
  const karma = require(report.asked.package);
  const words = report.asked.words;
  const file = configuration(words.named);
  process.argv = [process.execPath, path.join(report.asked.package, 'bin/karma')].concat(report.asked.shown);
  const ours = { singleRun: true, autoWatch: false, reporters: ['dualgate'], restartOnFileChange: false, failOnEmptyTestSuite: false, colors: false };
  const parsed = karma.config.parseConfig(file, ours, { promiseConfig: true, throwErrors: true });
  const config = await parsed;
  const key = crypto.randomBytes(32).toString('hex');
  Object.assign(config, {
    browsers: ['DualgateChromium'], frameworks: ['dualgate'].concat(config.frameworks || []), exclude: (config.exclude || []).concat(words.others),
    plugins: (config.plugins || []).concat({
      'launcher:DualgateChromium': browser(asked(config)), 'reporter:dualgate': reporter(config.basePath, key), 'framework:dualgate': ['factory', page],
      'middleware:dualgate': keeper(key),
    }),
    beforeMiddleware: ['dualgate'].concat(config.beforeMiddleware || []),
    client: Object.assign({}, config.client, {
      jasmine: Object.assign({}, (config.client || {}).jasmine, { random: false }), qunit: Object.assign({}, (config.client || {}).qunit, { reorder: false }),
    }),
    browserNoActivityTimeout: Math.max(config.browserNoActivityTimeout || 0, 120000), captureTimeout: Math.max(config.captureTimeout || 0, 120000),
  });
  const server = new karma.Server(config, (status) => process.exit(status));
  await server.start();
}

if (report) {
  main().catch((error) => {
    process.stderr.write(String((error && error.stack) || error) + '\n');
    process.exit(1);
  });
}
