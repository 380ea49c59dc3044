// Makes an ordinary user of EventStoreDB for Sluice, or gives an existing one what it needs: to read $all.
//
//   PASSWORD=… node deploy/eventstore-user.mjs 'esdb://admin:…@host:2113?tls=true&tlsCaFile=ca.crt' sluice
//
// The first argument is the connection string of an administrator, for one node. A repeat does no harm.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { EventStoreDBClient } from '@eventstore/db-client';

const [administrator = '', name = ''] = process.argv.slice(2);
const password = process.env.PASSWORD ?? '';
if (!URL.canParse(administrator) || !/^[\w.-]+$/.test(name) || password === '') {
  console.error(
    "usage: PASSWORD=… node deploy/eventstore-user.mjs 'esdb://admin:…@host:2113?tls=true&tlsCaFile=…' NAME",
  );
  process.exit(2);
}
const server = new URL(administrator.replace(/^\w+:/, 'https:'));
const caFile = server.searchParams.get('tlsCaFile');

const makeUser = () =>
  new Promise((resolve, reject) => {
    const { hostname, port, username, password: secret } = server;
    const options = {
      ...{
        method: 'POST',
        hostname,
        port,
        path: '/users/',
        auth: [username, secret].map(decodeURIComponent).join(':'),
      },
      ...{ ca: caFile === null ? undefined : readFileSync(caFile), agent: false },
      headers: { 'content-type': 'application/json' },
    };
    const call = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on('error', reject);
    call.end(JSON.stringify({ loginName: name, fullName: name, password, groups: [] }));
  });

const status = await makeUser();
if (status !== 201 && status !== 409) throw new Error(`the server answered ${status} to the new user ${name}`);

const client = EventStoreDBClient.connectionString(administrator);
const { metadata = {} } = await client.getStreamMetadata('$all');
const { acl = {} } = metadata;
const readers = [acl.readRoles ?? '$admins'].flat();
if (!readers.includes(name)) {
  await client.setStreamMetadata('$all', { ...metadata, acl: { ...acl, readRoles: [...readers, name] } });
}
console.log(`${name} may read $all`);
await client.dispose();
process.exit(0);
