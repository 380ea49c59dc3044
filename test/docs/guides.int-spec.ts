import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { freePorts } from '#test/engines/free-port.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { blocksOf, readGuide, type GuideBlock } from './guide.js';
import { GuideShell } from './guide-shell.js';

const guides = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs/how-to')).map((name) => `docs/how-to/${name}`),
  ...readdirSync(join(ROOT, 'examples/workflows')).map((name) => `examples/workflows/${name}/README.md`),
];
const isRun = ({ language, noRun, stop, file }: GuideBlock): boolean =>
  (language === 'sh' || stop !== undefined || file !== undefined) && noRun === undefined;

const follow = async (blocks: readonly GuideBlock[]): Promise<void> => {
  const shell = await GuideShell.for(blocks);
  try {
    for (const [n, block] of blocks.entries()) {
      const next = blocks[n + 1];
      const shown = next?.language === 'text' && next.output === undefined ? next.text : undefined;
      if (isRun(block)) await shell.do(block, shown);
      const owner = blocks.slice(0, n).findLast(({ language }) => language !== 'text');
      if (block.language !== 'text' || block.noRun !== undefined || !owner || !isRun(owner)) continue;
      const output = await shell.outputFor(block.text, block.output);
      if (!shell.patternOf(block.text).test(output))
        throw new Error(`line ${block.line} shows\n${block.text}\nbut the output is\n${output}`);
    }
  } finally {
    await shell.close();
  }
};

// A file that cannot be run is at least parsed by its program, where that is installed.
describe.each(guides)('%s', (page) => {
  const blocks = readGuide(page);
  const scratch = tempDir('guide-files');
  afterAll(() => removeDir(scratch));

  if (blocks.some(isRun)) it('works as written', () => follow(blocks), 240_000);

  it('has commands that a shell can read, and a reason beside each that is not run', () => {
    for (const { language, text, noRun, line } of blocks.filter((block) => block.language === 'sh')) {
      execFileSync('bash', ['-n'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
      expect({ page, line, language, noRun: noRun ?? 'it is run, as it should' }).toMatchObject({
        noRun: expect.stringMatching(/\S+ \S+ \S+/),
      });
    }
  });

  it('has JavaScript that Node can read', () => {
    for (const [n, { text, language }] of blocks.entries()) {
      if (!['js', 'mjs'].includes(language)) continue;
      mkdirSync(scratch, { recursive: true });
      const file = join(scratch, `${n}.mjs`);
      writeFileSync(file, text);
      execFileSync(process.execPath, ['--check', file], { stdio: 'pipe' });
    }
  });
});

describe('the files of docs/how-to/run-behind-tls-and-systemd.md', () => {
  const folder = tempDir('guide-service');
  afterAll(() => removeDir(folder));
  const file = (name: string): string => {
    const block = readGuide('docs/how-to/run-behind-tls-and-systemd.md').find(({ file: path }) => path?.endsWith(name));
    if (!block) throw new Error(`the guide has no file ${name}`);
    return block.text;
  };
  const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
  const blocksClose = (text: string): boolean => {
    const code = text.replaceAll(/#.*$/gm, '');
    return code.split('{').length === code.split('}').length;
  };

  it('have a unit that systemd reads without a complaint', () => {
    const path = join(folder, 'sluice.service');
    // systemd checks that the program exists, which does not concern the unit.
    writeFileSync(path, file('sluice.service').replace('/usr/bin/node', process.execPath));
    expect(file('sluice.service')).toMatch(
      /^\[Unit\]\n(?:\w+=.*\n)+\n\[Service\]\n(?:(?:[A-Z]\w+=|#).*\n|\n)+\[Install\]\n/,
    );
    if (!has('systemd-analyze')) return;
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('sluice.service'))).toEqual([]);
  });

  it('have a unit that leaves the jail what it needs, starts like npm start, and keeps the data where the settings say', () => {
    const unit = file('sluice.service');
    const taken =
      /^(RestrictNamespaces|PrivateUsers|SystemCallFilter|ProtectControlGroups|ProtectProc|ProcSubset|ProtectKernelTunables|ProtectKernelLogs|ProtectHostname|MemoryDenyWriteExecute)=/m;
    expect(unit).not.toMatch(taken);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };
    // systemd fills in no default of its own.
    const start = scripts.start.replace(/\$\{SLUICE_HEAP_MB:-(\d+)\}/, '$1');
    expect(unit).toContain(`ExecStart=/usr/bin/${start}\n`);
    expect(unit).toContain('StateDirectory=sluice\n');
    expect(file('sluice.env')).toContain('SLUICE_DATA_DIR=/var/lib/sluice\n');
  });

  it('have a configuration that nginx takes', async () => {
    const text = file('sluice.conf');
    expect(blocksClose(text)).toBe(true);
    expect(text.split('\n').filter((line) => !/^\s*(#.*|.*[;{}])?$/.test(line))).toEqual([]);
    if (!has('nginx')) return;
    const subject = ['-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=events.example.com', '-days', '1'];
    const [key, certificate] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')];
    execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', certificate], { stdio: 'pipe' });
    const [plain = 0, tls = 0] = await freePorts(2);
    const site = text
      .replaceAll('/etc/letsencrypt/live/events.example.com', folder)
      .replace('listen 80', `listen 127.0.0.1:${plain}`)
      .replace('listen 443', `listen 127.0.0.1:${tls}`);
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const ownFiles = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n');
    const whole = `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${ownFiles}\n${site}}\n`;
    writeFileSync(join(folder, 'nginx.conf'), whole);
    const { stderr, status } = spawnSync('nginx', ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('test is successful') });
  });

  it('have a configuration that Caddy takes', () => {
    const text = file('Caddyfile');
    expect(blocksClose(text)).toBe(true);
    if (!has('caddy')) return;
    writeFileSync(join(folder, 'Caddyfile'), text);
    execFileSync('caddy', ['validate', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')], {
      stdio: 'pipe',
    });
  });
});

// The runner itself: a guide that is wrong must fail.
describe('following a guide', () => {
  it.each([
    ['a command that fails', '```sh\nfalse\n```', /commands of line 1 failed \(1\)/],
    [
      'output that differs',
      '```sh\necho two\n```\n\n```text\nthree\n```',
      /line 5 shows\nthree[\s\S]*the output is\ntwo/,
    ],
    ['a refusal that nobody expects', `\`\`\`sh\necho '{"error":"no"}'\n\`\`\``, /was refused/],
    ['a server that ends', '```sh background=4000\necho broken\n```', /nothing listens on port 4000:\nbroken/],
  ])('fails for %s', async (_, markdown, message) => {
    await expect(follow(blocksOf(markdown))).rejects.toThrow(message);
  });

  it('keeps variables from block to block, writes files, and takes … for any text of a line', async () => {
    const markdown = [
      '```sh\nexport WHO=Ada\n```',
      '```js file=greet.mjs\nconsole.log("id", Math.random(), process.env.WHO);\n```',
      '```sh\nnode greet.mjs\n```',
      '```text\nid … Ada\n```',
    ];
    await follow(blocksOf(markdown.join('\n\n')));
  });
});
