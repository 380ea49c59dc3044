import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#test/harness/paths.js';

/** A setting with a value that a page shows, so a user may copy it. */
export interface SettingExample {
  readonly page: string;
  readonly line: number;
  readonly name: string;
  readonly value: string;
}

const folder = (path: string): readonly string[] =>
  readdirSync(join(ROOT, path)).flatMap((name) => (name.endsWith('.md') ? [`${path}/${name}`] : []));

const MORE_PAGES: readonly string[] = [
  'CONTRIBUTING.md',
  ...['docs', 'docs/adr', 'docs/performance'].flatMap((path) => folder(path)),
];
const PAGES: readonly string[] = [
  'README.md',
  'SECURITY.md',
  'docker-compose.yml',
  'Dockerfile',
  ...folder('docs/how-to'),
  ...folder('docs/reference'),
];

/** `NAME=value`, bare or quoted, and `NAME: value` of YAML. */
const GIVEN = /(SLUICE_[A-Z_]+)(?:=|: +)(?:'([^']*)'|"([^"]*)"|([^\s`'"|)]+(?: <[^>\s]+@[^>\s]+>)?))/g;
/** Shown without the name of the setting. */
const URLS: readonly (readonly [name: string, url: RegExp])[] = [
  ['SLUICE_EVENTSTORE_URL', /esdb(?:\+discover)?:\/\/[\w.[][^\s'"`|)}]*/g],
  ['SLUICE_MONGO_URL', /mongodb(?:\+srv)?:\/\/[\w.[][^\s'"`|)}]*/g],
  ['SLUICE_SMTP_URL', /smtps?:\/\/[\w.[][^\s'"`|)}]*/g],
];
/** A value that the reader fills in, or that a shell makes. */
const LEFT_OPEN = /…|\$|<key>|<port>|:port\b|%s|\.\*/;

/** Every example, each value of a setting once. */
export const settingExamples = (): readonly SettingExample[] => {
  const found = new Map<string, SettingExample>();
  for (const page of PAGES) {
    for (const [index, text] of readFileSync(join(ROOT, page), 'utf8').split('\n').entries()) {
      for (const [name, value] of examplesIn(page, text)) {
        if (!found.has(`${name}=${value}`)) found.set(`${name}=${value}`, { page, line: index + 1, name, value });
      }
    }
  }
  return [...found.values()];
};

/** Every setting that a page names as code, with or without a value. */
export const settingNames = (): readonly Pick<SettingExample, 'page' | 'name'>[] =>
  [...PAGES, ...MORE_PAGES].flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/`(SLUICE_[A-Z_]*[A-Z])(?=[`=])/g)].map(([, name = '']) => ({
      page,
      name,
    })),
  );

const examplesIn = (page: string, text: string): readonly (readonly [name: string, value: string])[] => {
  // The default that Compose uses without a variable of the shell.
  const filled = text.replaceAll(/\$\{\w+:-([^{}]*)\}/g, '$1');
  const isYaml = page.endsWith('.yml');
  const given = [...filled.matchAll(GIVEN)].flatMap(([whole, name = '', single, double, bare]) =>
    whole.includes(': ') && whole.indexOf('=') < 0 && !isYaml
      ? []
      : [[name, (single ?? double ?? bare ?? '').replace(/[.,]$/, '')] as const],
  );
  const urls = URLS.flatMap(([name, url]) =>
    [...filled.matchAll(url)].map(([value]) => [name, value.replace(/[.,]$/, '')] as const),
  );
  return [...given, ...urls].filter(([, value]) => value !== '' && !LEFT_OPEN.test(value));
};
