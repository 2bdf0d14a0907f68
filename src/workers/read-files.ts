import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { DirectoryHandles } from '../workspace/read/directory-handles.ts';
import { type BatchOrder, readBatch } from '../workspace/read/read-batch.ts';

/** Reads the batches that it is sent, until the thread is ended. */
const answers = workerData as MessagePort;
const handles = new DirectoryHandles();

parentPort?.on('message', (order: BatchOrder) => {
  const result = readBatch(order, handles);
  answers.postMessage(result, [result.buffer]);
});
