import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ipaddr from 'ipaddr.js';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { NPM_START_HEAP_MB } from '#libs/hosting/heap-flag.js';
import { DOCKER_RUN } from '#libs/hosting/isolation.js';
import { loadConfig, SETTINGS } from '#libs/config/index.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

interface Service {
  readonly command?: readonly string[];
  readonly build?: string;
  readonly container_name?: string;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly restart?: string;
  readonly env_file?: readonly unknown[];
  readonly security_opt?: readonly string[];
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string } } };
}

interface Subnet {
  readonly subnet: string;
  readonly ip_range: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<
    Record<string, { readonly internal?: boolean; readonly ipam?: { readonly config: readonly Subnet[] } } | null>
  >;
  readonly volumes: Readonly<Record<string, null>>;
}

const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** Parses YAML 1.2 with `<<`, as Compose reads it. */
const yaml = (file: string): Compose => load(text(file), { schema: CORE_SCHEMA.withTags(mergeTag) }) as Compose;
const composeText = text('docker-compose.yml');
const compose = yaml('docker-compose.yml');
const dockerfile = text('Dockerfile');
const startRole = text('deploy/start-role.sh');

const NOT_ROLES = ['standalone', 'cli', 'console'];
const ENGINES = ['eventstore', 'kafka', 'mongo'];
const apps = readdirSync(join(ROOT, 'apps'));
const roles = apps.filter((app) => !NOT_ROLES.includes(app)).sort();
const serviceOf = (name: string): Service => {
  const service = compose.services[name];
  if (!service) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
};

/** Fills in `${NAME:-default}` and `${NAME:?text}` from an environment, as Compose does. */
const interpolated = (value: string, env: Readonly<Record<string, string>>): string =>
  value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, mode?: string, rest?: string) => {
    const given = env[name];
    if (given !== undefined && given !== '') return given;
    if (mode === '-') return rest ?? '';
    throw new Error(`${name} is required: ${rest ?? ''}`);
  });

const environmentOf = (name: string, env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(serviceOf(name).environment ?? {}).map(([key, value]) => [key, interpolated(String(value), env)]),
  );

const megabytes = (size: string): number => {
  const [, count = '', unit] = /^(\d+)([MG])$/.exec(size) ?? [];
  return Number(count) * (unit === 'G' ? 1024 : 1);
};

/** Memory of all sandboxes of a runner. A process of a workflow takes several places, but starts when one is free. */
const sandboxesMb = (env: Readonly<Record<string, string>>): number => {
  const { sandboxes, memoryMb, workflowMemoryMb } = loadConfig(env);
  return sandboxes * (memoryMb + 60) + Math.max(0, workflowMemoryMb - memoryMb);
};

const GIVEN = { SLUICE_SECRET_KEY: 'ab'.repeat(32), SLUICE_API_KEY: 'a-key-of-the-owner' };

describe('docker-compose.yml', () => {
  it('has a service for each role, for each engine and for the proxy, and no other', () => {
    expect(roles.length).toBeGreaterThan(0);
    expect(Object.keys(compose.services).sort()).toEqual([...roles, ...ENGINES, 'proxy'].sort());
  });

  describe.each(roles)('role %s', (role) => {
    it('is started by the name of its app, ready before it counts as healthy', () => {
      expect(serviceOf(role).command).toEqual([role]);
      const check = ['CMD', 'node', '/app/deploy/health-check.mjs', '/readyz', '--end-after=12'];
      expect(serviceOf(role).healthcheck?.test).toEqual(check);
    });

    it('can be scaled: no name and no port of one copy', () => {
      expect(serviceOf(role).container_name).toBeUndefined();
      expect(serviceOf(role).ports).toBeUndefined();
    });

    it('has time to finish its work in flight, and gains no rights', () => {
      expect(serviceOf(role).stop_grace_period).toBe('30s');
      expect(serviceOf(role).security_opt).toContain('no-new-privileges:true');
    });

    it('has valid settings of this version, and needs the two secrets from outside', () => {
      const unknown: string[] = [];
      const config = loadConfig(environmentOf(role, GIVEN), (warning) => unknown.push(warning));
      expect(unknown).toEqual([]);
      expect(config.engine).toBe('distributed');
      for (const secret of Object.keys(GIVEN)) {
        expect(() => environmentOf(role, { ...GIVEN, [secret]: '' })).toThrow(`${secret} is required`);
      }
    });
  });

  it('fills in no variable that only looks like a setting', () => {
    const known = Object.values(SETTINGS).map(({ name }): string => name);
    const used = [...composeText.matchAll(/\$\{(SLUICE_\w+)/g)].map(([, name = '']) => name);
    expect(used.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('passes every setting of .env on to every role, and keeps those that it decides', () => {
    for (const role of roles) {
      expect(serviceOf(role).env_file).toEqual([{ path: '.env', required: false }]);
      const { SLUICE_HOST, SLUICE_PORT, SLUICE_DATA_DIR } = environmentOf(role, GIVEN);
      expect([SLUICE_HOST, SLUICE_PORT, SLUICE_DATA_DIR]).toEqual(['0.0.0.0', '3000', '/var/lib/sluice']);
    }
    // A line that only repeats the variable would override the file with a blank.
    expect(composeText).not.toMatch(/^ +SLUICE_\w+: \$\{SLUICE_\w+:-\}$/m);
  });

  it('never runs components without a jail, unless told to', () => {
    for (const role of ['runner', 'command-api']) expect(environmentOf(role, GIVEN)['SLUICE_ISOLATION']).toBe('jail');
  });

  it('restarts every role that ends', () => {
    for (const role of roles) expect(serviceOf(role).restart).toBe('unless-stopped');
  });

  it('lets only the roles that run components create jails', () => {
    const jailing = Object.keys(compose.services).filter((name) =>
      serviceOf(name).security_opt?.includes('seccomp=./deploy/seccomp.json'),
    );
    expect(jailing).toEqual(['command-api', 'runner']);
    const profile = JSON.parse(text('deploy/seccomp.json')) as { syscalls: { names: string[] }[] };
    const refused = profile.syscalls.flatMap(({ names }) => names);
    expect(refused).toContain('init_module');
    expect(refused).not.toContain('unshare');
  });

  it.each(ENGINES)('hides %s from the public, and keeps its data on a volume', (engine) => {
    const { networks, ports, volumes, healthcheck } = serviceOf(engine);
    expect(networks).toEqual(['engines']);
    expect(compose.networks['engines']).toEqual({ internal: true });
    expect(ports).toBeUndefined();
    expect(healthcheck).toBeDefined();
    const named = (volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    expect(named).toContain(`${engine}-data`);
    expect(named.filter((volume) => !(volume in compose.volumes))).toEqual([]);
  });

  it('has the roles trust only the proxy in its network', () => {
    const networks = serviceOf('proxy').networks;
    const given = networks && 'default' in networks ? (networks['default']?.ipv4_address ?? '') : '';
    const address = interpolated(given, {});
    const { subnet = '', ip_range = '' } = compose.networks['default']?.ipam?.config[0] ?? {};
    expect(ipaddr.parse(address).match(ipaddr.parseCIDR(interpolated(subnet, {})))).toBe(true);
    // Applies to whichever container starts first.
    expect(ipaddr.parse(address).match(ipaddr.parseCIDR(interpolated(ip_range, {})))).toBe(false);
    for (const role of roles) {
      expect(loadConfig(environmentOf(role, GIVEN)).trustedProxies).toEqual([address]);
      const ahead = { ...GIVEN, SLUICE_TRUSTED_PROXIES: '203.0.113.5' };
      expect(loadConfig(environmentOf(role, ahead)).trustedProxies).toEqual([address, '203.0.113.5']);
    }
    for (const header of ['For', 'Proto', 'Host'])
      expect(text('deploy/nginx.conf.template')).toMatch(new RegExp(`proxy_set_header X-Forwarded-${header} \\$`));
  });

  it('opens metrics in the inner networks, where no role publishes a port', () => {
    for (const role of roles) {
      expect(loadConfig(environmentOf(role, GIVEN)).metrics).toBe('open');
      expect(serviceOf(role).ports).toBeUndefined();
    }
    expect(text('deploy/nginx.conf.template')).not.toMatch(/location[^{]*metrics/);
  });

  it('limits the memory of every service to the documented sum', () => {
    const limits = Object.values(compose.services).map(({ deploy }) =>
      megabytes(deploy?.resources.limits.memory ?? ''),
    );
    expect(limits).not.toContain(0);
    const said = Number(/limits below add up to (\d+) GB/.exec(composeText)?.[1]);
    expect(Math.ceil(limits.reduce((sum, limit) => sum + limit) / 1024)).toBe(said);
  });

  it('gives a runner enough memory for its sandboxes', () => {
    const limit = megabytes(serviceOf('runner').deploy?.resources.limits.memory ?? '');
    expect(512 + sandboxesMb(environmentOf('runner', GIVEN))).toBeLessThanOrEqual(limit);
    // Whoever checks a workflow knows what the runner gives it.
    expect(new Set(roles.map((role) => environmentOf(role, GIVEN)['SLUICE_WORKFLOW_MEMORY_MB'])).size).toBe(1);
  });
});

describe('the schema of the Compose specification', () => {
  // compose-go 2.16.2, the library behind Docker Compose. Licence and notice lie beside it.
  const schema = JSON.parse(text('test/architecture/compose-spec/compose-spec.json')) as Record<string, unknown>;
  const problems = (file: unknown): readonly string[] => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { duration: true } });
    const isValid = ajv.compile(schema);
    return isValid(file) ? [] : (isValid.errors ?? []).map(({ instancePath, message = '' }) => instancePath + message);
  };

  it.each(['docker-compose.yml', 'deploy/engines-on-loopback.yml'])('takes %s', (file) => {
    expect(problems(yaml(file))).toEqual([]);
  });

  it('refuses what Compose refuses', () => {
    const service = (given: object): unknown => ({ services: { runner: { image: 'x', ...given } } });
    expect(problems(service({}))).toEqual([]);
    for (const wrong of [{ heathcheck: {} }, { restart: 5 }, { env_file: [{ required: false }] }, { cap_drop: 'ALL' }])
      expect(problems(service(wrong))).not.toEqual([]);
  });
});

describe('deploy/apparmor-sluice', () => {
  const profile = text('deploy/apparmor-sluice');

  it('lets the containers that run components make user namespaces, under the name that Compose is given', () => {
    expect(profile).toMatch(/^profile sluice /m);
    expect(profile).toMatch(/^ {2}userns,$/m);
    expect(text('docs/how-to/scale-out.md')).toContain('APPARMOR_PROFILE=sluice');
  });

  const parser = '/usr/sbin/apparmor_parser';
  (existsSync(parser) ? it : it.skip)('is read by the parser of this machine, as far as that knows its version', () => {
    const version = /version (\d+)/.exec(spawnSync(parser, ['--version'], { encoding: 'utf8' }).stdout)?.[1];
    // Parsers before 4 know neither.
    const known = Number(version) >= 4 ? profile : profile.replace(/^(abi| {2}userns).*$/gm, '');
    const read = spawnSync(parser, ['-Q', '-K'], { input: known, encoding: 'utf8' });
    expect(read).toMatchObject({ status: 0 });
  });
});

describe('deploy/engines-on-loopback.yml', () => {
  it('publishes the engines to this machine alone', () => {
    const { services } = yaml('deploy/engines-on-loopback.yml');
    expect(Object.keys(services).sort()).toEqual(ENGINES);
    for (const { ports } of Object.values(services)) expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });
});

describe('deploy/nginx.conf.template', () => {
  const conf = text('deploy/nginx.conf.template');

  it('sends requests to existing services, on the port that they listen on', () => {
    const servers = [...conf.matchAll(/^ {2}server (\S+) resolve;/gm)].map(([, server]) => server);
    const hosts = ['command-api', 'query-api', 'ingress'];
    expect(servers).toEqual(hosts.map((host) => `${host}:${SETTINGS.port.fallback}`));
    for (const host of hosts) serviceOf(host);
  });

  it('keeps the addresses of streams out of its log, because they may hold a key, and sends them to query-api', () => {
    const [, pattern = '', block = ''] = /location ~ (\S+sse\S+) \{([^}]*)\}/.exec(conf) ?? [];
    expect(block).toMatch(/access_log off;\s+proxy_pass http:\/\/query_api;/);
    const streamed = ['sources/dc_1', 'workspaces/o_1', 'workflows/p_1', 'workflows/p_1/runs', 'runs/run_1'];
    const all = streamed.map((of) => `/v1/${of}/sse`);
    for (const address of [...all, '/pipelines/p_1/sse']) expect(address).toMatch(new RegExp(pattern));
  });

  it('sends endpoints and URLs of runs to ingress, tools by their method, and logs no URL of a run', () => {
    expect(conf).toMatch(/^ {2}location = \/mcp \{\n {4}proxy_pass http:\/\/\$api;\n {2}\}$/m);
    expect(conf).toMatch(/^ {2}location \/h\/ \{\n {4}proxy_pass http:\/\/ingress;\n {2}\}$/m);
    expect(conf).toMatch(/^ {2}location \/r\/ \{\n {4}access_log off;\n {4}proxy_pass http:\/\/ingress;\n {2}\}$/m);
  });

  it('gets each of its own variables from the proxy service', () => {
    const asked = [...conf.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(serviceOf('proxy').environment ?? {})).toEqual(expect.arrayContaining(asked));
  });
});

describe('Dockerfile', () => {
  it('copies and runs existing files', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
      files.split(' '),
    );
    expect(copied).toContain('deploy/start-role.sh');
    expect(copied.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    const run = [...dockerfile.matchAll(/"\/app\/(deploy\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(run.filter((file) => !copied.includes(file))).toEqual([]);
  });

  it('includes in the build context each copied file, by existing names', () => {
    const allowed = [...text('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name = '']) => name);
    expect(allowed.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    expect(allowed).toEqual(expect.arrayContaining(['apps', 'libs', 'tools', 'deploy/start-role.sh']));
  });

  it('pins one exact version of Node, on which .ci/run runs the tests', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}']));
    const tag = /^ARG NODE_IMAGE=node:(\d+\.\d+\.\d+)-bookworm-slim$/m.exec(dockerfile)?.[1];
    expect(tag).toBeDefined();
    expect(text('.ci/run')).toMatch(/^NODE_LTS=.*NODE_IMAGE.*Dockerfile\)$/m);
    expect(text('.ci/run')).toMatch(
      /^ +PATH="\$lts:\$PATH" tests "tests near to Node itself, on Node \$NODE_LTS" script test /m,
    );
    expect(dockerfile).not.toMatch(/npm ci(?!.*--ignore-scripts)/);
  });

  it('begins with the command that gives it a jail, and the image contains the profile of that command', () => {
    const commands = [...dockerfile.matchAll(/^# {3}(docker run .*)$/gm)].map(([, command]) => command);
    expect(commands).toEqual([DOCKER_RUN]);
    expect(DOCKER_RUN).toContain('/app/deploy/seccomp.json');
    // The first command of the README that runs a container.
    expect(/^docker run .*$/m.exec(text('README.md'))?.[0]).toBe(DOCKER_RUN);
    expect(dockerfile).toMatch(/^COPY .*deploy\/seccomp\.json .*deploy\/$/m);
    const given = compose.services['runner']?.security_opt ?? [];
    expect(given).toContain('apparmor=${APPARMOR_PROFILE:-unconfined}');
  });

  it('has a setting that marks the container, so that it never falls back to plain processes', () => {
    const [, variables = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
    const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=') as [string, string]));
    expect(loadConfig(env)).toMatchObject({ inImage: true, isolation: 'auto' });
  });

  it('runs without root, with the jail and an init inside', () => {
    expect(dockerfile).toMatch(/^USER 10001:10001$/m);
    expect(dockerfile).toMatch(/apt-get install .*bubblewrap tini/);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", /m);
  });

  it('starts the output of the build, with the flags of npm start', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: { start: string } };
    const flags = scripts.start.split(' ').slice(0, -1).join(' ');
    const heap = `\${SLUICE_HEAP_MB:-${NPM_START_HEAP_MB}}`;
    expect(flags).toContain(`=${heap}`);
    expect(startRole).toContain(`exec ${flags.replace(heap, '$heap_mb')} "$main" "$@"`);
    const pattern = /^main=\/app\/(.+)$/m.exec(startRole)?.[1] ?? '';
    const missing = apps.map((app) => pattern.replace('$app', app)).filter((file) => !existsSync(join(ROOT, file)));
    expect(missing).toEqual([]);
  });

  describe('gives each process a heap', () => {
    const heapOf = (
      app: string,
      limit: string,
      env: Readonly<Record<string, string>> = {},
      told = /--max-old-space-size=(\d+) /,
    ): number => {
      const dir = tempDir('heap');
      const [script, limitFile] = [join(dir, 'start-role.sh'), join(dir, 'memory.max')];
      writeFileSync(script, startRole.replaceAll('/app/dist', join(ROOT, 'dist')));
      writeFileSync(limitFile, `${limit}\n`);
      writeFileSync(join(dir, 'node'), '#!/bin/sh\necho "$@" "shown=$SLUICE_HEAP_MB"\n', { mode: 0o755 });
      const { stdout } = spawnSync('sh', [script, app], {
        encoding: 'utf8',
        env: { PATH: `${dir}:${process.env.PATH ?? ''}`, MEMORY_LIMIT_FILE: limitFile, TMPDIR: dir, ...env },
      });
      removeDir(dir);
      return Number(told.exec(stdout)?.[1]);
    };
    const MB = 1024 * 1024;

    it.each(roles)('of half the limit of its container in docker-compose.yml, less its sandboxes: %s', (role) => {
      const env = environmentOf(role, GIVEN);
      const limit = megabytes(serviceOf(role).deploy?.resources.limits.memory ?? '');
      const heap = heapOf(role, String(limit * MB), env);
      expect(heap).toBe(Math.floor((limit - (role === 'runner' ? sandboxesMb(env) : 0)) / 2));
      expect(heap).toBeGreaterThanOrEqual(256);
    });

    it('of SLUICE_HEAP_MB where it is set, and in the bounds of the machine where there is no limit', () => {
      expect(heapOf('router', String(512 * MB), { SLUICE_HEAP_MB: '300' })).toBe(300);
      expect(heapOf('router', String(16 * MB))).toBe(128);
      // All sandboxes together may exceed the limit, but rarely run at once.
      expect(heapOf('standalone', String(2048 * MB))).toBe(256);
      for (const none of ['max', '9223372036854771712']) {
        expect(heapOf('router', none)).toBeLessThanOrEqual(Math.min(4096, totalmem() / MB / 2));
        expect(heapOf('router', none)).toBeGreaterThanOrEqual(128);
      }
    });

    it('that cli config shows as a server would get it', () => {
      const limit = String(2048 * MB);
      const shown = (env?: Readonly<Record<string, string>>) => heapOf('cli', limit, env, /shown=(\d+)$/m);
      expect(shown()).toBe(heapOf('standalone', limit));
      expect(shown({ SLUICE_HEAP_MB: '300' })).toBe(300);
      expect(heapOf('cli', limit)).toBe(1024);
    });
  });
});
