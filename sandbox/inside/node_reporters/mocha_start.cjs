'use strict';
// Starts mocha with our options, where programs under test that read their arguments see the repository's own.
const fs = require('fs');
const path = require('path');
const channel = require('./channel.cjs');

const { asked } = channel.given();
const program = path.join(asked.package, 'bin/_mocha');
const cli = path.join(asked.package, 'lib/cli/cli.js');
process.argv = [process.execPath, program].concat(asked.shown);
if (fs.existsSync(cli)) {
  require(cli).main(asked.words);
} else {
  process.argv = [process.execPath, program].concat(asked.words); // 5 and older read nothing else
  require(program);
}
