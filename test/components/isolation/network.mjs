import net from 'node:net';

const connect = (host) =>
  new Promise((resolve) => {
    const socket = net.connect(80, host);
    socket.on('connect', () => resolve('connected')).on('error', (error) => resolve(error.message));
  });

export default {
  name: 'Calls private addresses',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run() {
    this.$emit(await connect('169.254.169.254'));
    this.$emit(await connect('10.0.0.1'));
    this.$emit(await fetch('http://[::1]:8080/').catch((error) => error.cause?.message ?? error.message));
  },
};
