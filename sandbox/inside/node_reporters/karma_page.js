// In the page, before the repository's files: tells which script declares which test. Karma itself knows titles only.
(function () {
  'use strict';
  var told = [];
  var karma = window.__karma__;
  var send = karma.info;
  var names = [];

  function script() {
    if (document.currentScript && document.currentScript.src) return document.currentScript.src;
    var lines = String(new Error().stack).split('\n');
    for (var place = 0; place < lines.length; place += 1) {
      var match = /(https?:\/\/[^\s()]+?):\d+:\d+/.exec(lines[place]);
      if (match && match[1].indexOf('/karma_page.js') < 0 && match[1].indexOf('/node_modules/') < 0) return match[1];
    }
    return '';
  }

  function flush() {
    if (told.length) send.call(karma, { dualgate: told });
    told = [];
  }

  function note(name) {
    var module = window.QUnit && window.QUnit.config && window.QUnit.config.currentModule;
    var above = module ? [[module.name], [String(module.name).split(' > ').pop()]] : [names]; // adapters of QUnit name all of the path, or its end
    above.forEach(function (group, place) {
      if (place === 0 || group[0] !== above[0][0]) told.push([group.concat(String(name)).filter(Boolean).join('\u0001'), script()]);
    });
    if (told.length >= 200) flush();
  }

  function around(name, words, call) {
    var body = words[words.length - 1];
    if (typeof body !== 'function') return call(words);
    var inner = function () {
      names.push(String(name));
      try {
        return body.apply(this, arguments);
      } finally {
        names.pop();
      }
    };
    return call(Array.prototype.slice.call(words, 0, -1).concat(inner));
  }

  // `group` holds others; anything else declares a test. What hangs on them (`it.only`) declares as well.
  function followed(real, group, depth) {
    return new Proxy(real, {
      apply: function (target, self, words) {
        if (typeof words[0] !== 'string') return Reflect.apply(target, self, words);
        if (group) return around(words[0], words, function (more) { return Reflect.apply(target, self, more); });
        note(words[0]);
        return Reflect.apply(target, self, words);
      },
      get: function (target, name) {
        var value = Reflect.get(target, name, target);
        return typeof value === 'function' && depth && /^(only|skip|todo|concurrent)$/.test(String(name)) ? followed(value, group, depth - 1) : value;
      },
    });
  }

  ['describe', 'fdescribe', 'xdescribe', 'context', 'xcontext', 'suite'].forEach(function (name) {
    if (typeof window[name] === 'function') window[name] = followed(window[name], true, 1);
  });
  ['it', 'fit', 'xit', 'specify', 'xspecify', 'test'].forEach(function (name) {
    if (typeof window[name] === 'function') window[name] = followed(window[name], false, 1);
  });
  if (window.QUnit && window.QUnit.config) {
    ['test', 'skip', 'todo', 'only'].forEach(function (name) {
      if (typeof window.QUnit[name] === 'function') window.QUnit[name] = followed(window.QUnit[name], false, 1);
    });
  }
  document.addEventListener('DOMContentLoaded', flush);
  var start = karma.loaded;
  karma.loaded = function () {
    flush();
    return start.apply(karma, arguments);
  };
}());
