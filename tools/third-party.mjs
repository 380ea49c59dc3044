// Writes dist/THIRD-PARTY.md: the licences of the packages whose code the bundles contain. Whoever passes the bundles on
// passes these packages on, and their licences ask for that.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** esbuild writes the path of each file above its code. In texts within code, its line end is written `\n`. */
const FILES = /\/\/ (?:\.\.\/)*(node_modules\/[^\n"'\\]+)/g;
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENCE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** Folders of the packages, from the bundles. */
const foldersIn = (bundles) => {
  const found = new Set();
  for (const file of bundles)
    for (const [, inside] of readFileSync(file, 'utf8').matchAll(FILES)) {
      const [folder] = PACKAGE.exec(inside) ?? [];
      if (folder !== undefined) found.add(folder);
    }
  return [...found].sort();
};

const licenceOf = ({ license, licenses }) => {
  const named = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ');
  return typeof named === 'string' ? named : 'see its text';
};

const noticeOf = (folder) => {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((name) => LICENCE.test(name) && statSync(path.join(folder, name)).isFile())
    .map((name) => readFileSync(path.join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
  return { name: `${manifest.name} ${manifest.version} (${licenceOf(manifest)})`, text: texts.join('\n\n') };
};

/** Names of the bundles of the build. */
export const writeThirdParty = (bundles) => {
  const byText = new Map();
  for (const { name, text } of foldersIn(bundles).map(noticeOf)) byText.set(text, [...(byText.get(text) ?? []), name]);
  const sections = [...byText].map(([text, names]) => {
    const list = [...new Set(names)].map((name) => `- ${name}`).join('\n');
    return text === '' ? `${list}\n\nNo text beside their code.` : `${list}\n\n\`\`\`text\n${text}\n\`\`\``;
  });
  const head = '# Packages whose code is in the bundles of Sluice';
  writeFileSync('dist/THIRD-PARTY.md', `${[head, ...sections].join('\n\n')}\n`);
};
