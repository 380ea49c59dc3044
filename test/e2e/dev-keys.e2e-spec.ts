import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type Answer, inTerminal, type Screen, textOn } from '#test/harness/terminal.js';

const { server } = useInstance();
const dir = tempDir('dev-keys');
afterAll(() => removeDir(dir));
writeFileSync(join(dir, 'package.json'), '{}');
/** Stands for the editor of a person. */
const editor = join(dir, 'editor.mjs');
writeFileSync(
  editor,
  `#!${process.execPath}
import { readFileSync, writeFileSync } from 'node:fs';
const file = process.argv.at(-1);
writeFileSync(file, JSON.stringify({ edited: JSON.parse(readFileSync(file, 'utf8')) }));
`,
);
chmodSync(editor, 0o755);

const develop = (
  file: string,
  code: string,
  answers: readonly Answer[],
  ...more: readonly string[]
): Promise<Screen> => {
  writeFileSync(join(dir, file), code);
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    SLUICE_API_KEY: server.apiKey,
    SLUICE_URL: server.url,
    VISUAL: editor,
    TZ: 'UTC',
  };
  return inTerminal(['dev', file, ...more], answers, { env, cwd: dir });
};

// docs/reference/command-line.md#dev
describe('the keys of sluice dev', () => {
  it('runs, edits, samples, shows the db, pauses, tells the console and itself, and quits', async () => {
    writeFileSync(join(dir, 'event.json'), '{"n":1}');
    const code = componentCode({
      props: `db: '$.service.db'`,
      members: `sampleEmit: { sample: true },
        run(event) { const runs = (this.db.get('runs') ?? 0) + 1; this.db.set('runs', runs); this.$emit({ runs, event }); },`,
    });
    const { status, shown } = await develop(
      'keyed.mjs',
      code,
      [
        { to: /\? tells the keys\.[^]*emit \{"runs":1,"event":\{"n":1\}\}[^]*db runs = 1/, type: '?' },
        { to: /r run, or send the last event again, e edit an event and send it, .*q quit, \? keys/, type: 'r' },
        { to: /emit \{"runs":2,"event":\{"n":1\}\}[^]*db runs = 2/, type: 'e' },
        { to: /emit \{"runs":3,"event":\{"edited":\{"n":1\}\}\}[^]*db runs = 3/, type: 'r' },
        { to: /emit \{"runs":4,"event":\{"edited":\{"n":1\}\}\}[^]*db runs = 4/, type: 'd' },
        { to: /\{"runs":4\}\n/, type: 's' },
        { to: /emitted a sample event of dc_\w+\n/, type: 'p' },
        { to: /paused\n/, type: 'r' },
        { to: /is inactive/, type: 'p' },
        { to: /active\n/, type: 'c' },
        { to: /http:\/\/127\.0\.0\.1:\d+\/#\/sources\/dc_\w+\n/, type: 'q' },
      ],
      '--event',
      'event.json',
    );
    expect({ status, text: textOn(shown) }).toEqual({ status: 0, text: expect.stringContaining('/#/sources/') });
  }, 120_000);

  it('rest while a save asks for a new prop, and Ctrl-C ends the session with 0', async () => {
    const code = componentCode({
      props: `http: '$.interface.http'`,
      members: 'run() { this.$emit({ who: this.who }); },',
    });
    const asking = code.replace(
      `http: '$.interface.http'`,
      `http: '$.interface.http', who: { type: 'string', label: 'Who' }`,
    );
    const file = join(dir, 'asking.mjs');
    const save = { to: /\? tells the keys\./, type: 'd', before: () => writeFileSync(file, asking) };
    const { status, shown } = await develop('asking.mjs', code, [
      save,
      // Each letter is a key, too.
      { to: /Who/, type: 'reqcp\r' },
      { to: /updated/, type: 'r' },
      { to: /emit \{"who":"reqcp"\}/, type: '\u0003' },
    ]);
    expect({ status, text: textOn(shown) }).toEqual({
      status: 0,
      text: expect.stringContaining('emit {"who":"reqcp"}'),
    });
  }, 120_000);
});
