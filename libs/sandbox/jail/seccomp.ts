import { arch as hostArch } from 'node:os';

/** Architecture as the seccomp filter needs it. */
interface Architecture {
  /** AUDIT_ARCH_*, as seccomp_data holds it. */
  readonly audit: number;
  readonly column: 0 | 1;
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
};

/** System calls refused with any arguments. Numbers for x86_64 and aarch64, null where the call does not exist. */
const REFUSED: Readonly<Record<string, readonly [number, number | null]>> = {
  // Single calls that reach large parts of the kernel and have a history of vulnerabilities.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  // Keyrings are not namespaced.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Access to memory and execution of other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // Programs that exist in no file system.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  execveat: [322, 281],
  // Namespaces and mounts. clone is checked by its flags below.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  statmount: [457, 457],
  listmount: [458, 458],
  open_tree_attr: [467, 467],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  // Memory that the data limit does not cover.
  shmget: [29, 194],
  shmctl: [31, 195],
  shmat: [30, 196],
  semget: [64, 190],
  semop: [65, 193],
  msgget: [68, 186],
  msgsnd: [69, 189],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  // Administration of the machine.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, null],
  get_kernel_syms: [177, null],
  query_module: [178, null],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  nfsservctl: [180, 42],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  syslog: [103, 116],
  vhangup: [153, 58],
  lookup_dcookie: [212, 18],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  _sysctl: [156, null],
  // Rarely used calls.
  personality: [135, 92],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  set_mempolicy_home_node: [450, 450],
  remap_file_pages: [216, 234],
};

const CLONE = [56, 220] as const;
const CLONE3 = [435, 435] as const;
const SOCKET = [41, 198] as const;
const SOCKETPAIR = [53, 199] as const;
const IOCTL = [16, 29] as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** First call number of x32, which shares the architecture x86_64. */
const X32_BIT = 0x40000000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
const [SOCK_STREAM, SOCK_DGRAM, SOCK_TYPE_MASK] = [1, 2, 0xf];
const [IPPROTO_TCP, IPPROTO_UDP, NETLINK_ROUTE] = [6, 17, 0];

const EPERM = 1;
const ENOSYS = 38;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const refuse = (errno: number): number => 0x00050000 | errno;

/** Offsets in struct seccomp_data. Only the lower half of an argument is read, because the kernel uses only 32 bits. */
const NUMBER_AT = 0;
const ARCH_AT = 4;
const argumentAt = (index: number): number => 16 + 8 * index;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, k: number];

const load = (at: number): Instruction => [0x20, 0, 0, at];
const answer = (value: number): Instruction => [0x06, 0, 0, value];
const and = (mask: number): Instruction => [0x54, 0, 0, mask];
/** Runs `body` for this value. `body` must end in an answer. */
const when = (value: number, ...body: readonly Instruction[]): Instruction[] => [
  [0x15, 0, body.length, value],
  ...body,
];
const whenAtLeast = (value: number, ...body: readonly Instruction[]): Instruction[] => [
  [0x35, 0, body.length, value],
  ...body,
];
const whenAnyBit = (mask: number, ...body: readonly Instruction[]): Instruction[] => [
  [0x45, 0, body.length, mask],
  ...body,
];

const notPermitted = answer(refuse(EPERM));

/** Allows socket() for local sockets, TCP, UDP, and the netlink protocol that lists addresses. */
const socketRules = (): Instruction[] => {
  const internet = [
    load(argumentAt(2)),
    ...when(0, answer(ALLOW)),
    ...when(IPPROTO_TCP, answer(ALLOW)),
    ...when(IPPROTO_UDP, answer(ALLOW)),
    notPermitted,
  ];
  const byType = [
    load(argumentAt(1)),
    and(SOCK_TYPE_MASK),
    ...when(SOCK_STREAM, ...internet),
    ...when(SOCK_DGRAM, ...internet),
    notPermitted,
  ];
  return [
    load(argumentAt(0)),
    ...when(AF_UNIX, answer(ALLOW)),
    ...when(AF_INET, ...byType),
    ...when(AF_INET6, ...byType),
    ...when(AF_NETLINK, load(argumentAt(2)), ...when(NETLINK_ROUTE, answer(ALLOW)), notPermitted),
    notPermitted,
  ];
};

/**
 * Builds a seccomp program in the kernel's format (struct sock_filter). Calls that neither Node nor a compiler needs
 * fail with EPERM, and all others are allowed. clone3 hides its flags behind a pointer, so it fails with ENOSYS and the
 * C library falls back to clone. Returns null for an architecture with unknown numbers.
 */
export const seccompFilter = (arch: string = hostArch()): Buffer | null => {
  const found = ARCHITECTURES[arch];
  if (!found) return null;
  const { audit, column } = found;
  const refused = Object.values(REFUSED).flatMap((numbers) => numbers[column] ?? []);
  const program: Instruction[] = [
    load(ARCH_AT),
    // Calls of another architecture have other numbers.
    [0x15, 1, 0, audit],
    answer(KILL_PROCESS),
    load(NUMBER_AT),
    ...(arch === 'x64' ? whenAtLeast(X32_BIT, notPermitted) : []),
    ...refused.flatMap((number) => when(number, notPermitted)),
    ...when(CLONE3[column], answer(refuse(ENOSYS))),
    ...when(CLONE[column], load(argumentAt(0)), ...whenAnyBit(NEW_NAMESPACES, notPermitted), answer(ALLOW)),
    ...when(SOCKET[column], ...socketRules()),
    ...when(SOCKETPAIR[column], load(argumentAt(0)), ...when(AF_UNIX, answer(ALLOW)), notPermitted),
    ...when(
      IOCTL[column],
      load(argumentAt(1)),
      ...when(TIOCSTI, notPermitted),
      ...when(TIOCLINUX, notPermitted),
      answer(ALLOW),
    ),
    answer(ALLOW),
  ];
  return encode(program);
};

const encode = (program: readonly Instruction[]): Buffer => {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, k], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  });
  return bytes;
};
