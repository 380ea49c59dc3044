import { describe, expect, it } from '@jest/globals';
import { seccompFilter } from './seccomp.js';

const EPERM = 1;
const ENOSYS = 38;

/** Interprets a program of struct sock_filter like the kernel. */
const run = (program: Buffer, arch: number, call: number, args: readonly number[]): string => {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(arch, 4);
  args.forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + 8 * index));
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const k = program.readUInt32LE(at * 8 + 4);
    const jump = (met: boolean): number => program.readUInt8(at * 8 + (met ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) at += jump(accumulator === k);
    else if (code === 0x35) at += jump(accumulator >= k);
    else if (code === 0x45) at += jump((accumulator & k) !== 0);
    else if (code === 0x06) {
      if (k === 0x7fff0000) return 'allowed';
      if (k === 0x80000000) return 'killed';
      return `errno ${k & 0xffff}`;
    } else throw new Error(`instruction ${code} is not known to this test`);
  }
  throw new Error('the program ends without an answer');
};

const CLONE_THREAD_FLAGS = 0x3d0f00;
const CLONE_NEWUSER = 0x10000000;
const CLONE_NEWNS = 0x20000;

// Numbers from asm/unistd.h of each architecture.
const MACHINES = [
  {
    arch: 'x64',
    audit: 0xc000003e,
    calls: {
      read: 0,
      mmap: 9,
      ioctl: 16,
      socket: 41,
      socketpair: 53,
      clone: 56,
      execve: 59,
      ptrace: 101,
      unshare: 272,
    },
  },
  {
    arch: 'arm64',
    audit: 0xc00000b7,
    calls: {
      read: 63,
      mmap: 222,
      ioctl: 29,
      socket: 198,
      socketpair: 199,
      clone: 220,
      execve: 221,
      ptrace: 117,
      unshare: 97,
    },
  },
] as const;
const CLONE3 = 435;
const IO_URING_SETUP = 425;

describe.each(MACHINES)('the seccomp filter on $arch', ({ arch, audit, calls }) => {
  const program = seccompFilter(arch) ?? Buffer.alloc(0);
  const ask = (call: number, ...args: number[]): string => run(program, audit, call, args);

  it('fits the size that the kernel accepts', () => {
    expect(program.length % 8).toBe(0);
    expect(program.length / 8).toBeLessThan(4096);
  });

  it.each(['read', 'mmap', 'execve'] as const)('allows %s', (name) => expect(ask(calls[name])).toBe('allowed'));

  it.each([
    ['io_uring_setup', IO_URING_SETUP],
    ['ptrace', calls.ptrace],
    ['unshare', calls.unshare],
  ])('refuses %s', (_, call) => expect(ask(call, 0, 0)).toBe(`errno ${EPERM}`));

  it('allows threads and processes, but no namespaces', () => {
    expect(ask(calls.clone, CLONE_THREAD_FLAGS)).toBe('allowed');
    expect(ask(calls.clone, 17)).toBe('allowed');
    expect(ask(calls.clone, CLONE_NEWUSER | 17)).toBe(`errno ${EPERM}`);
    expect(ask(calls.clone, CLONE_NEWNS)).toBe(`errno ${EPERM}`);
    // Its flags cannot be read, so the C library falls back to clone.
    expect(ask(CLONE3)).toBe(`errno ${ENOSYS}`);
  });

  it.each([
    ['a unix socket', [1, 1, 0], true],
    ['TCP', [2, 1 | 0x80800, 0], true],
    ['TCP over IPv6', [10, 1, 6], true],
    ['UDP', [2, 2, 17], true],
    ['a list of addresses', [16, 3, 0], true],
    ['netfilter over netlink', [16, 3, 12], false],
    ['SCTP', [2, 1, 132], false],
    ['a raw socket', [2, 3, 1], false],
    ['packets', [17, 3, 0], false],
    ['AF_VSOCK', [40, 1, 0], false],
    ['AF_ALG', [38, 5, 0], false],
    ['a family of tomorrow', [99, 1, 0], false],
  ] as const)('socket: %s', (_, args, allowed) => {
    expect(ask(calls.socket, ...args)).toBe(allowed ? 'allowed' : `errno ${EPERM}`);
  });

  it('allows only local socket pairs, and no input into terminals', () => {
    expect(ask(calls.socketpair, 1)).toBe('allowed');
    expect(ask(calls.socketpair, 40)).toBe(`errno ${EPERM}`);
    expect(ask(calls.ioctl, 0, 0x5401)).toBe('allowed');
    expect(ask(calls.ioctl, 0, 0x5412)).toBe(`errno ${EPERM}`);
    // The kernel reads 32 bits of the request.
    expect(ask(calls.ioctl, 0, 0x100005412)).toBe(`errno ${EPERM}`);
  });

  it('ends a process that uses the call numbers of another architecture', () => {
    expect(run(program, 0x40000003, calls.read, [])).toBe('killed');
  });
});

describe('the seccomp filter', () => {
  it('refuses the numbers of x32', () => {
    const program = seccompFilter('x64') ?? Buffer.alloc(0);
    expect(run(program, 0xc000003e, 0x40000000, [])).toBe(`errno ${EPERM}`);
    expect(run(program, 0xc000003e, 0x3fffffff, [])).toBe('allowed');
  });

  it('is null for an architecture with unknown numbers', () => expect(seccompFilter('riscv64')).toBeNull());
});
