// In the page, behind the adapter of the test library and before the repository's files: signs what that adapter says, and tells which script declares
// which test (karma itself knows titles only). What comes later finds a `__karma__` that can start the tests and has no way to this reporter.
(function () {
  'use strict';
  var real = window.__karma__;
  var applied = Reflect.apply;
  var quote = JSON.stringify;
  var encoder = new TextEncoder();
  var encode = TextEncoder.prototype.encode;
  var K = new Uint32Array(64);
  var key = '';
  var sequence = 0;
  var names = [];

  function take() {
    var request = new XMLHttpRequest();
    request.open('GET', '/dualgate-key', false);
    request.send();
    return request.status === 200 ? request.responseText : '';
  }

  function constants(number, count, table) {
    for (var place = 0, candidate = 2; place < count; candidate += 1) {
      var prime = true;
      for (var other = 2; other * other <= candidate; other += 1) if (candidate % other === 0) prime = false;
      if (!prime) continue;
      var root = Math.pow(candidate, 1 / number);
      table[place] = (root - Math.floor(root)) * 4294967296;
      place += 1;
    }
    return table;
  }

  constants(3, 64, K);
  var START = constants(2, 8, new Uint32Array(8));

  function turn(value, by) {
    return (value >>> by) | (value << (32 - by));
  }

  function sha256(text) {
    var bytes = applied(encode, encoder, [text]);
    var length = bytes.length;
    var blocks = ((length + 8) >>> 6) + 1;
    var words = new Uint32Array(blocks * 16);
    for (var at = 0; at < length; at += 1) words[at >>> 2] |= bytes[at] << (24 - (at % 4) * 8);
    words[length >>> 2] |= 0x80 << (24 - (length % 4) * 8);
    words[blocks * 16 - 1] = length * 8;
    var state = new Uint32Array(8);
    var w = new Uint32Array(64);
    var place;
    for (place = 0; place < 8; place += 1) state[place] = START[place];
    for (var block = 0; block < blocks; block += 1) {
      for (place = 0; place < 64; place += 1) {
        if (place < 16) w[place] = words[block * 16 + place];
        else {
          var x = w[place - 15];
          var y = w[place - 2];
          w[place] = w[place - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[place - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
        }
      }
      var a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
      for (place = 0; place < 64; place += 1) {
        var one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[place] + w[place]) | 0;
        var two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
      }
      state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
    }
    var hex = '';
    for (place = 0; place < 8; place += 1) for (var shift = 28; shift >= 0; shift -= 4) hex += '0123456789abcdef'[(state[place] >>> shift) & 15];
    return hex;
  }

  var info = real.info;
  var result = real.result;
  var complete = real.complete;

  // Strings alone: nothing that `toJSON` of somebody else could speak for.
  function say(fields) {
    var body = '[';
    for (var place = 0; place < fields.length; place += 1) body += (place ? ',' : '') + quote('' + fields[place]);
    body += ']';
    applied(info, real, [{ dualgate: sequence + ' ' + sha256(key + sha256(key + sequence + ':' + body)) + ' ' + body }]);
    sequence += 1;
  }

  real.result = function (told) {
    var fields = ['result', told.success ? '1' : '', told.skipped ? '1' : '', told.time || 0, told.log && told.log.length ? told.log.join('\n') : ''];
    for (var place = 0; place < (told.suite || []).length; place += 1) fields[fields.length] = told.suite[place];
    fields[fields.length] = told.description;
    say(fields);
    return applied(result, real, [told]);
  };
  real.complete = function (told) {
    say(['complete']);
    return applied(complete, real, [told || {}]);
  };

  var own = { info: info, result: result, complete: complete };
  window.__karma__ = new Proxy({}, {
    get: function (_, name) {
      var value = Object.prototype.hasOwnProperty.call(own, name) ? own[name] : real[name];
      return typeof value !== 'function' ? value : function () { return applied(value, real, arguments); };
    },
    set: function (_, name, value) {
      var kept = typeof value !== 'function' ? value : function () { return applied(value, window.__karma__, arguments); };
      if (name === 'info' || name === 'result' || name === 'complete') own[name] = kept;
      else real[name] = kept;
      return true;
    },
    has: function (_, name) { return name in real; },
  });

  function script() {
    if (document.currentScript && document.currentScript.src) return document.currentScript.src;
    var lines = String(new Error().stack).split('\n');
    for (var place = 0; place < lines.length; place += 1) {
      var match = /(https?:\/\/[^\s()]+?):\d+:\d+/.exec(lines[place]);
      if (match && match[1].indexOf('/karma_page.js') < 0 && match[1].indexOf('/node_modules/') < 0) return match[1];
    }
    return '';
  }

  function note(name) {
    var url = script();
    var module = window.QUnit && window.QUnit.config && window.QUnit.config.currentModule;
    var above = module ? [module.name] : names;
    say(['declared', url].concat(above, name).filter(function (one) { return one !== ''; }));
    var last = module && String(module.name).split(' > ').pop(); // adapters of QUnit name all of the path, or its end
    if (module && last !== module.name) say(['declared', url, last, name]);
  }

  function around(name, words, call) {
    var body = words[words.length - 1];
    if (typeof body !== 'function') return call(words);
    var inner = function () {
      names.push(String(name));
      try {
        return applied(body, this, arguments);
      } finally {
        names.pop();
      }
    };
    return call(Array.prototype.slice.call(words, 0, -1).concat(inner));
  }

  // `group` holds others; anything else declares a test. What hangs on them (`it.only`) declares as well.
  function followed(original, group, depth) {
    return new Proxy(original, {
      apply: function (target, self, words) {
        if (typeof words[0] !== 'string') return applied(target, self, words);
        if (group) return around(words[0], words, function (more) { return applied(target, self, more); });
        note(words[0]);
        return applied(target, self, words);
      },
      get: function (target, name) {
        var value = Reflect.get(target, name, target);
        return typeof value === 'function' && depth && /^(only|skip|todo|concurrent)$/.test(String(name)) ? followed(value, group, depth - 1) : value;
      },
    });
  }

  key = take();
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
}());
