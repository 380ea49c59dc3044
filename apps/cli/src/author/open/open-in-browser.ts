import { spawn } from 'node:child_process';
import { type Context } from '../context.js';

/**
 * Opens an address where somebody may see it. The address is told anyway, so a browser that cannot be started is no
 * failure.
 */
export const openInBrowser = ({ io, globals }: Context, address: string): void => {
  if (!io.isTerminal.stdout || globals.json === true || (io.env['CI'] ?? '') !== '') return;
  const [program, ...args] = openerOf(process.platform, io.env);
  if (program === undefined) return;
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
};

/** The program that opens addresses, with its arguments. Empty where there is no desktop. No shell sees the address. */
export const openerOf = (
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const isDesktop = ['DISPLAY', 'WAYLAND_DISPLAY'].some((name) => (env[name] ?? '') !== '');
  return isDesktop ? ['xdg-open'] : [];
};
