import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createFileSystem } from '../platform/node-file-system.ts';
import { openTree, type WorkspaceTree } from '../restore/apply/workspace-tree.ts';
import { type WriteOrder, writeBatch } from '../restore/apply/write-batch.ts';
import type { WriteAnswer } from '../restore/apply/write-in-parallel.ts';

/** Writes the files that it is sent, all below one directory, until the thread is ended. */
const answers = workerData as MessagePort;
const fs = createFileSystem();
let tree: WorkspaceTree | undefined;

parentPort?.on('message', (order: WriteOrder) => answers.postMessage(answerTo(order)));

function answerTo(order: WriteOrder): WriteAnswer {
  try {
    tree ??= openTree(order.into);
    return { kind: 'written', failures: writeBatch(order, tree, fs) };
  } catch (error) {
    return { kind: 'broken', message: (error as Error).message };
  }
}
