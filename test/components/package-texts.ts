import { type PackageTexts } from '#libs/sandbox/testing/package-folder.js';

const SERVICES = 250;

/** An SDK of the size and the shape of those of large clouds: a client a service, each with its models. */
const largeSdk = (): PackageTexts => {
  const texts: Record<string, string> = {
    'large-sdk/package.json': '{"name":"large-sdk","version":"3.0.0","main":"./dist/index.js"}',
    'large-sdk/dist/base.js': `class Base { constructor(options) { this.options = options; }
      async send(command) { return { service: this.service, region: this.options.region, ...this.models[command.op] }; } }
      exports.Base = Base;`,
  };
  for (let n = 0; n < SERVICES; n++) {
    const models = Object.fromEntries(
      Array.from({ length: 100 }, (_, op) => [op === 0 ? 'list' : `op${op}`, { type: 'structure', n, op }]),
    );
    texts[`large-sdk/dist/models/${n}.js`] = `module.exports = ${JSON.stringify(models)};`;
    texts[`large-sdk/dist/clients/${n}.js`] =
      `const { Base } = require('../base'); const models = require('../models/${n}');
       exports.Client${n} = class extends Base { get service() { return 's${n}'; } get models() { return models; } };`;
  }
  const all = Array.from({ length: SERVICES }, (_, n) => `s${n}: require('./clients/${n}').Client${n}`).join(',\n');
  texts['large-sdk/dist/index.js'] = `const clients = {${all}};
    exports.Sdk = class { constructor(options) { this.options = options; } client(name) { return new clients[name](this.options); } };`;
  return texts;
};

/** npm packages that the components of the area `packages` import. */
export const PACKAGE_TEXTS: PackageTexts = {
  ...largeSdk(),
  'ranged/package.json': '{"name":"ranged","version":"1.2.9"}',
  'ranged/index.js': `module.exports = 'one';`,
  'ranged-2/package.json': '{"name":"ranged","version":"2.4.0","type":"module"}',
  'ranged-2/index.js': `export default 'two'; export const sub = 'of two';`,
  'ranged-2/deep.js': `export default 'deep in two';`,
  'dual/package.json': `{"name":"dual","version":"1.0.0","exports":{".":{"import":"./module.mjs","require":"./common.cjs"}}}`,
  'dual/module.mjs': `export const kind = 'module'; export default () => 'imported';`,
  'dual/common.cjs': `exports.kind = 'common'; exports.default = () => 'required';`,
  '@scope/toolkit/package.json': `{"name":"@scope/toolkit","version":"1.0.0","type":"module",
    "exports":{".":"./index.js","./feature":{"types":"./feature.d.ts","default":"./lib/feature.js"}}}`,
  '@scope/toolkit/index.js': `import own from 'undeclared'; export const undeclared = own;`,
  '@scope/toolkit/lib/feature.js': `export const feature = (n) => ({ feature: n });`,
  'undeclared/index.js': `module.exports = 'found';`,
  '@scope/emitter/package.json': '{"name":"@scope/emitter","version":"1.0.0","main":"index.js"}',
  '@scope/emitter/index.js': `const { EventEmitter } = require('events'); exports.Emitter = class Emitter extends EventEmitter {};`,
  '@scope/emitter/lazy.mjs': `export class LazyThing { async load() { return (await import('./lazy-part.mjs')).default; } }`,
  '@scope/emitter/lazy-part.mjs': `export default 'lazy part';`,
};

/** Places of the specifiers that name a version beside the newest. */
export const PACKAGE_PLACES: Readonly<Record<string, string>> = {
  'ranged@^2.0.0': 'node_modules/ranged-2',
  'ranged@^2.0.0/deep.js': 'node_modules/ranged-2',
};
