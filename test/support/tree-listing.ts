import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Lists a directory tree independently of the product: one line a path, in byte order: type, mode, SHA-256 or link target, path (latin1, so that
 * every byte shows). `.git` and other given top-level names can be left out.
 */
export function treeListing(root: string, leaveOut: readonly string[] = []): readonly string[] {
  const lines: string[] = [];
  const walk = (directory: Buffer, prefix: Buffer): void => {
    for (const name of readdirSync(directory, { encoding: 'buffer' })) {
      if (prefix.length === 0 && leaveOut.includes(name.toString())) continue;
      const full = Buffer.concat([directory, Buffer.from('/'), name]);
      const relative = Buffer.concat([prefix, name]);
      const stat = lstatSync(full);
      const mode = (stat.mode & 0o7777).toString(8);
      const shown = relative.toString('latin1');
      if (stat.isDirectory()) {
        lines.push(`${shown} dir ${mode}`);
        walk(full, Buffer.concat([relative, Buffer.from('/')]));
      } else if (stat.isSymbolicLink())
        lines.push(`${shown} link ${readlinkSync(full, { encoding: 'buffer' }).toString('latin1')}`);
      else if (stat.isFile())
        lines.push(`${shown} file ${mode} ${createHash('sha256').update(readFileSync(full)).digest('hex')}`);
      else lines.push(`${shown} special`);
    }
  };
  walk(Buffer.from(root), Buffer.alloc(0));
  return lines.sort();
}
