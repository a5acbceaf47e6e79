'use strict';
// Starts karma on the repository's configuration, with one browser of ours and our reporter in place of its own.
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

function reporter(base) {
  const files = new Map(); // titles -> files that declare them, in their order
  const begun = new Set();
  let bad = 0;
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
  function Followed() {
    this.adapters = [];
    this.onRunStart = () => {};
    this.onBrowserStart = () => {};
    this.onBrowserLog = () => {};
    this.onBrowserInfo = (_, info) => (info.dualgate || []).forEach(([title, url]) => files.set(title, (files.get(title) || []).concat(place(url))));
    this.onSpecComplete = (_, result) => {
      const titles = result.suite.concat(result.description).map(String);
      const declared = files.get(titles.join('\u0001')) || [];
      const file = (declared.length > 1 ? declared.shift() : declared[0]) || '';
      begin(file);
      const record = { e: 'test', f: file, t: titles, o: result.skipped ? 'skipped' : result.success ? 'passed' : 'failed', s: channel.seconds(result.time) };
      if (record.o === 'failed') {
        bad += 1;
        const text = channel.cut((result.log || []).join('\n').replace(/(\w+:\/\/localhost:\d+\/|\()base\//g, (_, before) => (before === '(' ? '(' : '') + base + '/'));
        Object.assign(record, { x: 'Error', m: text.replace(/\?[0-9a-f]{16,}/g, '') || 'failed', st: '' });
      }
      report.send(record);
    };
    this.onBrowserError = (_, error) => broken(String((error && error.message) || error));
    this.onRunComplete = (browsers, results) => {
      begun.forEach((file) => report.send({ e: 'end', f: file }));
      const all = browsers.map((one) => one.lastResult);
      if (!all.length || all.some((one) => one.disconnected)) return; // the end was not reached: no word of it
      if (results.error && !bad) bad = 1;
      report.send({ e: 'done', bad });
    };
  }
  return ['type', Followed];
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
  Object.assign(config, {
    browsers: ['DualgateChromium'], frameworks: ['dualgate'].concat(config.frameworks || []), exclude: (config.exclude || []).concat(words.others),
    plugins: (config.plugins || []).concat({
      'launcher:DualgateChromium': browser(asked(config)), 'reporter:dualgate': reporter(config.basePath), 'framework:dualgate': ['factory', page],
    }),
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
