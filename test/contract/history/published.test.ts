import assert from 'node:assert/strict';
import { openedHistoryTest } from '../../fixture/history/histories.ts';
import { anomalyEvent, batchOf, keptEvent, keptScore, START_MS } from '../../fixture/history/kept-records.ts';

openedHistoryTest('series and group members with open events are published first, then a glob', async (history) => {
  const names = ['a%x', 'a_1', 'ab1', 'b', 'm1', 'm2', 'quiet'];
  const scores = names.map((series, i) => keptScore(i, { series, grade: i / 8 }));
  const members = [{ series: 'm1', share: 1 }];
  const events = [
    anomalyEvent('open', { series: 'b' }),
    anomalyEvent('group', { series: null, group: 'g', members }),
    anomalyEvent('closed', {
      series: 'quiet',
      type: 'closed',
      revision: 1,
      endedAtMs: START_MS,
      closeReason: 'recovered',
    }),
  ].map((event, i) => keptEvent(i, event));
  await history.append(batchOf({ scores, events }));
  const published = async (chosen: string | null, limit = 100) => {
    const { series, seriesTotal, events: open, eventsTotal } = await history.published({ series: chosen, limit });
    return [series.map((each) => each.series), seriesTotal, open.map(({ eventId }) => eventId).sort(), eventsTotal];
  };
  assert.deepEqual(await published(null), [['b', 'm1'], 2, ['group', 'open'], 2]);
  assert.deepEqual(await published('a?1'), [['b', 'm1', 'a_1', 'ab1'], 4, ['group', 'open'], 2]);
  assert.deepEqual(await published('a_*'), [['b', 'm1', 'a_1'], 3, ['group', 'open'], 2]);
  assert.deepEqual(await published('a%*'), [['b', 'm1', 'a%x'], 3, ['group', 'open'], 2]);
  assert.deepEqual((await published('{__name__=~"m.*"}'))[0], ['b', 'm1', 'm2']);
  assert.deepEqual((await published('*', 3))[0], ['b', 'm1', 'a%x']);
  assert.deepEqual((await published('*', 1)).slice(1), [7, ['group'], 2]);
  assert.equal((await history.published({ series: null, limit: 1 })).series[0].grade, 3 / 8);
});
