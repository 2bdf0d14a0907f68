import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { ByteWriter } from './byte-writer.ts';
import { decodeNode } from './decode-node.ts';
import { encodeIndexNode } from './index-codec.ts';
import { SEGMENT_TAG, TREE_VERSION } from './node-tags.ts';
import { encodeSegment } from './segment-codec.ts';

const HASH = '0123456789abcdef'.repeat(4);

/** A segment of symlinks written by hand, so that it can hold what the encoder refuses. */
function segment(paths: readonly string[], after: (record: ByteWriter) => void = () => {}, kind = 2): Buffer {
  const out = new ByteWriter();
  out.byte(SEGMENT_TAG);
  out.byte(TREE_VERSION);
  out.varint(paths.length);
  for (const path of paths) {
    const record = new ByteWriter();
    const bytes = Buffer.from(path);
    record.varint(0);
    record.varint(bytes.length);
    record.bytes(bytes);
    record.byte(kind);
    record.varint(1);
    record.byte(0x78);
    record.varint(10);
    record.varint(5);
    after(record);
    out.varint(record.length);
    out.bytes(record.finish());
  }
  return out.finish();
}

describe('decodeNode()', () => {
  test.each([
    '../evil',
    '/etc/x',
    'a/../../b',
    '.git/hooks/post-checkout',
    'sub/.GiT/config',
    '.git',
    'a\0b',
    'a//b',
    'a/',
    '.',
    './a',
  ])('SE-01: rejects the path %j', (path) => {
    expect(() => decodeNode(segment([path]))).toThrow(expect.objectContaining({ code: 'UNSAFE_PATH' }));
  });

  test.each(['.gitignore', '.github/x', 'a..b', '...', '.gitx/y', 'x.git/y'])('takes the path %j', (path) => {
    expect(decodeNode(segment([path])).keys).toEqual([path]);
  });

  test.each([[['b', 'a']], [['a', 'a']], [['']]])(
    'rejects paths that are unsorted or repeated: %j',
    (paths) => {
      expect(() => decodeNode(segment(paths))).toThrow(/out of order|Unsafe/);
    },
  );

  test('skips fields it does not know and reads an unknown kind as observed and unknown', () => {
    const longer = decodeNode(segment(['a', 'b'], (record) => record.bytes(Buffer.from('future'))));
    expect(longer).toMatchObject({ keys: ['a', 'b'], nodes: [{ kind: 'symlink' }, { kind: 'symlink' }] });
    const other = decodeNode(segment(['a', 'b'], () => {}, 77));
    const unknown = { kind: 'observed', reason: 'unreadable', what: 'unknown', size: 0 };
    expect(other).toMatchObject({ keys: ['a', 'b'], nodes: [unknown, unknown] });
  });

  test('never reads another format in part', () => {
    const bytes = segment(['a']);
    bytes[1] = TREE_VERSION + 1;
    expect(() => decodeNode(bytes)).toThrow(expect.objectContaining({ code: 'FORMAT_UNSUPPORTED' }));
  });

  test('answers any damage with a WaymarkError', () => {
    const nodes = [
      encodeSegment([
        ['a' as RelPath, { kind: 'directory', mode: 0o755, mtimeNs: 1n, listing: 'complete' }],
        ['a/\udcff' as RelPath, { kind: 'symlink', target: 'x', mtimeNs: -5n }],
      ]),
      encodeIndexNode(1, [
        ['a' as RelPath, HASH as never],
        ['b' as RelPath, HASH as never],
      ]),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...nodes),
        fc.array(fc.tuple(fc.nat(120), fc.nat(255)), { maxLength: 4 }),
        fc.nat(120),
        (node, flips, length) => {
          const bytes = Buffer.from(node.subarray(0, Math.max(1, length)));
          for (const [at, value] of flips) bytes[at % bytes.length] = value;
          try {
            decodeNode(bytes);
          } catch (error) {
            expect(isWaymarkError(error)).toBe(true);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});
