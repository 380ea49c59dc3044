import { StringDecoder } from 'node:string_decoder';

export default {
  name: 'Buffers and encodings',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    const bytes = Buffer.from('zażółć', 'utf8');
    const decoder = new StringDecoder('utf8');
    this.$emit({
      hex: bytes.toString('hex'),
      base64: bytes.toString('base64url'),
      latin1: Buffer.from([0xe9]).toString('latin1'),
      utf16: Buffer.from('a', 'utf16le').length,
      split: decoder.write(bytes.subarray(0, 3)) + decoder.write(bytes.subarray(3)),
      atob: atob('aGk='),
      number: Buffer.from([0, 0, 1, 0]).readUInt32BE(),
      decoded: new TextDecoder('utf-16le').decode(new Uint8Array([0xac, 0x20])),
      view: new DataView(new Uint8Array([1, 2]).buffer).getUint16(0),
    });
  },
};
