import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '#test/harness/paths.js';

const run = promisify(execFile);

/** What a user sees, in 80 columns. */
const helpOf = async (path: readonly string[]): Promise<string> => {
  const cli = join(ROOT, 'dist/apps/cli/src/main.js');
  const { stdout } = await run(process.execPath, [cli, ...path, '--help'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH },
  });
  return stdout.trim();
};

/** Names of the commands in a help text, without `help` itself. */
const commandsIn = (help: string): readonly string[] => {
  const listed = [...help.matchAll(/^(?:Commands|Develop|Use|Operate):\n((?: .*\n?)*)/gm)].map(([, part = '']) => part);
  const names = [...listed.join('').matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'help');
};

const sections = async (path: readonly string[]): Promise<readonly string[]> => {
  const help = await helpOf(path);
  const title = ['sluice', ...path].join(' ');
  const own = `<a id="${title.replaceAll(' ', '-')}"></a>\n\n${'#'.repeat(Math.min(path.length + 2, 4))} ${title}\n\n\`\`\`text\n${help}\n\`\`\`\n`;
  const below = await Promise.all(commandsIn(help).map((name) => sections([...path, name])));
  return [own, ...below.flat()];
};

const RULES = `<a id="exits"></a>**A command ends** with status 0 when it succeeded, and otherwise says on standard error what went wrong. A closed pipe (\`| head\`) is no failure.

| Exit | Meaning |
|---|---|
| 0 | done |
| 1 | failed in a way that is not below; a check failed |
| 2 | the command line is wrong: an unknown command or option, a missing value, a refused confirmation |
| 3 | no API key, 401 or 403 |
| 4 | 404 |
| 5 | 409 or 412 |
| 6 | a component, prop, hook or definition is refused |
| 7 | no server answers, or it is not trusted |
| 8 | 429 or 503, after the tries |
| 130 | Ctrl-C |

The commands on an installation itself (Operate) end with 0, 1 or 2. The others (Develop, Use) work by the [REST API](rest-api.md#base-path), also of a server elsewhere, and have rules of their own:

- <a id="login"></a>**Login.** \`sluice login\` keeps a server, a key and a workspace as a profile, in \`$XDG_CONFIG_HOME/sluice/config.json\` (else \`~/.config\`, on Windows \`%APPDATA%\`), or in the file that \`SLUICE_CONFIG\` names, which \`./.env\` cannot set. The file has the mode 0600 in a folder of 0700, and one that others may read is closed, with a warning. The profile of the last login is the current one. No option takes a key, because other users of a computer see options.
- <a id="server"></a>**The key** comes from the first of these: \`--profile\`; \`SLUICE_API_KEY\` of the environment, then of \`./.env\`; \`SLUICE_PROFILE\`; the current profile. **The server** comes from the same place (\`SLUICE_URL\`, else \`http://127.0.0.1:3000\`), or is \`--url\`. The key of a profile goes to its own server only, and a key of the environment never to a server that \`./.env\` names, because a folder may be somebody else's. A server of \`./.env\` that is not this computer is asked about once a folder; where nobody can be asked, it needs \`--url\`.
- <a id="workspace"></a>**The workspace** is \`--workspace\` (id or exact name), else that of the profile, else the [acting workspace](rest-api.md#acting-workspace).
- <a id="json"></a>**\`--json\`** prints one document on standard output: \`{"data": …}\`, with \`page_info\` of a list, and \`warnings\` when there are some. \`test\` prints one object a line instead, without \`data\`. Numbers keep the digits of the server. An error leaves standard output empty, and is one line on standard error: \`error\`, \`code\` (of the API, or of the command, such as \`usage\`, \`no_key\`, \`no_server\`, \`tls\`, \`unexpected_answer\` or \`failed\`), \`status\` (or null), \`details\`, and \`next\`, a command that helps (or null).
- <a id="terminal"></a>**On a terminal** columns are cut to its width, times are local, and there are colours, unless \`NO_COLOR\` or \`TERM=dumb\` is set or \`--color\` says otherwise. In a pipe nothing is cut, and times are in UTC. Names and payloads cannot act on a terminal: control characters in them are shown by their number.
- <a id="prompts"></a>**Questions** are asked only where standard input and standard error are terminals, without \`--json\`, \`--no-input\` and the variable \`CI\`. Otherwise a command ends with 2 at once, and names what is missing. What cannot be undone is asked about, or needs \`--yes\`.
- <a id="requests"></a>**Requests** carry \`User-Agent: sluice-cli/<version>\`, and each \`POST\` an [\`Idempotency-Key\`](rest-api.md#idempotency-key). An answer of 429 or 503, and a lost connection, is tried again three times within 30 seconds, by \`Retry-After\`. Redirects are not followed. Nothing else is sent anywhere. \`--verbose\` tells each request, without keys.
- <a id="files"></a>**Files of a component.** \`deploy\`, \`publish\` and \`update --code\` send a file with what it imports by relative paths: with \`import\`, \`import()\` or \`require\` of a path in quotes, also JSON and texts. [The server](component-model.md#build-jail) builds them, and nothing of them runs on your computer. What lies outside of the project, also behind a link, is refused before anything is sent. The project is the nearest folder with \`package.json\` or \`.git\`, else that of the file, or \`--root\`. At most 200 files and 2,304 KB are sent.
- <a id="props"></a>**Props** of \`deploy\` come from \`--props\` and \`--prop\`, and what is required and missing is asked for on a terminal, by its type: options of the component can be searched, secrets are not shown, and what the server refuses is asked again. Where nobody can be asked, the command ends with 2 and names each option that is needed.
- <a id="upsert"></a>**\`deploy --upsert\`** changes the source whose slug is that of \`--name\`, or makes one. When two make it at the same moment, one ends with 5 and deletes the source that it made, so that one is left.
- <a id="dev"></a>**\`sluice dev FILE\`** deploys a file as a source of its own, gives it each save, and tells each run with its events, log lines, error and changed keys of \`$.service.db\`. What is refused is told with its place, and the former code goes on. With an API key it uses that server, and asks once a folder about one that is not on this computer. Without a key, or with \`--own\`, it starts one that ends with the command, also when that is killed, with its data in \`.sluice\` of the project. It takes no settings of \`./.env\`. The next session has the same source, address and \`$.service.db\`. Components that it saved are deleted once they are replaced; what \`publish\` or a deployment saved stays. At the end the source is stopped, unless \`--keep\` leaves it active or \`--rm\` deletes it. On a terminal \`?\` tells the keys, which rest while something is asked. An action is run at each save. \`--from\` subscribes the source to another one until the end, but for \`--keep\`; a subscription that the source of \`--source\` had before stays. \`--forward\`, and lost connections, are as with [\`--follow\`](#follow). With \`--json\` each line is an object with \`at\` and \`type\`: \`ready\`, \`updated\`, \`rejected\`, \`run\`, \`emit\`, \`log\`, \`warning\`, \`error\`, \`reply\`, \`db\` or \`forwarded\`.
- <a id="lists"></a>**Lists** show 20 items, newest first, and \`--all\` shows up to 100,000. The last line, on standard error, says how to go on.
- <a id="completion"></a>**Completion.** Bash, zsh, fish and PowerShell complete commands, options, their values, and names of sources, webhooks, accounts, data stores and workspaces of the server, once they have read the script of \`sluice completion\`. A server that takes longer than 300 ms gives no names. A name that a shell would have to quote is completed as the id.
- <a id="follow"></a>**\`--follow\`** prints the history and then what [the stream of the workspace](rest-api.md#stream-workspace) sends, each record once, with \`--json\` as one object a line. A stream that ends, or is silent for 40 s, is opened again after 0, 1, 2, 4, 8 and then every 15 s, and goes on where it was. What is no longer kept by then is told on standard error. It ends with 0 at Ctrl-C, after \`--count\` records or \`--for\` a time, with 4 when the source is deleted, and with 3 when the key is revoked. \`--forward\` posts each event to an address, as [deliveries](delivery.md#webhook-headers) are, signed with a key that it tells at the start. At most 10 are sent at once, and none again.`;

/** Content of docs/reference/command-line.md. */
export const commandLineReference = async (): Promise<string> =>
  [
    '# Command line',
    '',
    '[The package](../../README.md#start) installs the program `sluice`. In a checkout, `npm run sluice -- <command>` runs the commands. In a container, the image takes `cli <command>`. Settings are [environment variables](config.md), the same as for the server. A command prints its results on standard output, and everything else on standard error. This page is generated from `--help`: `npm run docs:reference`.',
    '',
    RULES,
    '',
    ...(await sections([])),
  ].join('\n');
