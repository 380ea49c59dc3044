import { describe, expect, it } from '@jest/globals';
import { Argument, Command, Option } from 'commander';
import { addGlobals } from '../author/globals.js';
import { candidatesFor } from './candidates.js';

const program = addGlobals(new Command('sluice'));
const webhooks = program.command('webhooks').summary('Makes webhooks');
addGlobals(webhooks.command('update').argument('<webhook>', 'id or name').option('--name <name>', 'its name'));
addGlobals(
  program
    .command('deploy')
    .argument('[file]', 'a file')
    .addOption(new Option('--state <state>').choices(['on', 'off'])),
);
addGlobals(program.command('stop').argument('<sources...>', 'ids or names'));
program.command('completion').addArgument(new Argument('<shell>').choices(['bash', 'zsh']));

const at = (...line: readonly string[]) => {
  const { known, ...others } = candidatesFor(program, line);
  return { values: known.map(({ value }) => value), ...others };
};

describe('the candidates for the last word of a line', () => {
  it('are the commands, then those below one', () => {
    expect(at('').values).toEqual(['webhooks', 'deploy', 'stop', 'completion']);
    expect(at('--json', '-p', 'stop', '').values).toEqual(['webhooks', 'deploy', 'stop', 'completion']);
    expect(at('webhooks', '').values).toEqual(['update']);
  });

  it('are options of the command', () => {
    const { values } = at('deploy', '--');
    expect(values).toEqual(expect.arrayContaining(['--state', '--json', '--profile', '--help']));
    expect(values).not.toContain('--name');
  });

  it('are the values of an option', () => {
    expect(at('deploy', '--state', '')).toMatchObject({ values: ['on', 'off'], isFile: false, before: '' });
    expect(at('deploy', '--state=o')).toMatchObject({ values: ['on', 'off'], word: '--state=o', before: '--state=' });
    // Bash makes three words of it.
    expect(at('deploy', '--state', '=', 'o')).toMatchObject({ values: ['on', 'off'], word: 'o', before: '' });
    expect(at('deploy', '--state', '=')).toMatchObject({ values: ['on', 'off'], word: '', before: '' });
    expect(at('-p', '')).toMatchObject({ values: [], named: 'profile' });
  });

  it('are the values of an argument, by its name', () => {
    expect(at('completion', '').values).toEqual(['bash', 'zsh']);
    expect(at('deploy', '')).toMatchObject({ isFile: true });
    expect(at('webhooks', 'update', 'a')).toMatchObject({ named: 'webhook', word: 'a' });
    expect(at('webhooks', 'update', 'a', 'b').named).toBeUndefined();
    expect(at('stop', 'a', '--yes', 'b', '')).toMatchObject({ named: 'sources' });
    expect(at('stop', '--', '-')).toMatchObject({ named: 'sources', word: '-', values: [] });
  });

  it('come from the server that the line names', () => {
    const { globals } = at('-p', 'here', 'stop', '--url=http://127.0.0.1:1', '--workspace', 'o_1', '');
    expect(globals).toEqual({ profile: 'here', url: 'http://127.0.0.1:1', workspace: 'o_1' });
  });
});
