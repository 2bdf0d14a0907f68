import type { Engine, Row, Sample } from '../rows/row.ts';
import type { Scene } from '../scene.ts';
import { median, type Summary, summarize } from './summary.ts';

/** What one row gave for one engine. */
export interface RowResult {
  readonly row: Row;
  readonly engine: Engine;
  readonly ours: Summary;
  /** what it is measured against; undefined where there is nothing */
  readonly git: Summary | undefined;
  /** medians, ours divided by the other's */
  readonly ratio: number | undefined;
  /** median processor time, ms, of ours and the other's; undefined where it is not known */
  readonly cpuMs: { readonly ours: number; readonly git: number } | undefined;
  readonly verdict: 'aim' | 'must' | 'missed';
}

export interface Rounds {
  /** not counted */
  readonly warmUp: number;
  readonly counted: number;
}

/** Measures a row: in every round each side once, one after the other, by turns first. */
export async function runRow(
  row: Row,
  scene: Scene,
  engines: readonly Engine[],
  rounds: Rounds,
): Promise<readonly RowResult[]> {
  const sides = new Map<Engine | 'other', () => Promise<Sample>>();
  const measured = row.engines.filter((engine) => engines.includes(engine));
  for (const engine of measured) sides.set(engine, () => row.ours(scene, engine));
  if (measured.length === 0) return [];
  const other = row.git;
  if (other !== undefined) sides.set('other', () => other(scene));
  const samples = new Map([...sides.keys()].map((side) => [side, [] as Sample[]]));
  const warmUp = row.maxRounds === undefined ? rounds.warmUp : 0;
  const total = warmUp + Math.min(rounds.counted, row.maxRounds ?? rounds.counted);
  for (let round = 0; round < total; round++) {
    row.prepare?.(scene);
    for (const [side, measure] of rotated([...sides], round)) {
      const sample = await measure();
      if (round >= warmUp) samples.get(side)?.push(sample);
    }
  }
  return measured.map((engine) => judge(row, engine, samples.get(engine) ?? [], samples.get('other')));
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const at = by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

function judge(
  row: Row,
  engine: Engine,
  own: readonly Sample[],
  others: readonly Sample[] | undefined,
): RowResult {
  const ours = summarize(own.map(({ value }) => value));
  const git = others && summarize(others.map(({ value }) => value));
  const ratio = git && ours.median / git.median;
  const value = row.bound === 'ratio' ? (ratio ?? Number.NaN) : ours.median;
  const verdict = value <= row.aim ? 'aim' : value <= row.must ? 'must' : 'missed';
  return { row, engine, ours, git, ratio, cpuMs: medianCpu(own, others ?? []), verdict };
}

function medianCpu(own: readonly Sample[], others: readonly Sample[]): RowResult['cpuMs'] {
  const [ours, git] = [own, others].map((samples) => samples.flatMap(({ cpuMs }) => cpuMs ?? []));
  if (!ours?.length || !git?.length) return undefined;
  return { ours: median(ours), git: median(git) };
}
