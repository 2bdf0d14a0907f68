import type { CommandModule } from '../command.ts';
import { operationJson } from '../json/operation-json.ts';
import { given } from '../options.ts';
import { timeText } from '../time-text.ts';

/** `waymark operations` */
export const operations: CommandModule = {
  configure: (command) =>
    command
      .option('--session <id>', 'only those of a session')
      .option('--limit <count>', 'at most so many (default: all)'),
  examples: [
    ['waymark operations', 'everything that changed the workspace, newest first'],
    ['waymark operations --limit 1 --format json', 'the newest, for a program'],
  ],
  async run(context, { options }) {
    const log = await (await context.workspace()).operations({
      ...given('session', options.text('session')),
      ...given('limit', options.count('limit')),
    });
    return {
      data: () => log.map(operationJson),
      blocks: () => [
        {
          kind: 'table',
          columns: [
            { title: 'Operation', tone: 'accent' },
            { title: 'Started', tone: 'dim' },
            { title: 'Kind' },
            { title: 'Status' },
            { title: 'Changed' },
            { title: 'Session', tone: 'dim' },
            { title: 'Description' },
          ],
          rows: log.map((operation) => [
            operation.id.slice(-8),
            timeText(operation.startedAt),
            operation.kind,
            operation.status,
            String(operation.changedCount),
            operation.sessionId ?? '',
            operation.description,
          ]),
        },
      ],
      notes: log.length === 0 ? ['No operations yet'] : [],
    };
  },
};
