/** Cold path: caches the hidden services of a node until its marks or its report change, because nodes are published often. */
import type { CapabilityReport } from '../../domain/capability-report.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { CoreServices } from '../../domain/requirements.ts';
import { knownTyper } from '../registration/service-types.ts';
import { type Hidden, hiddenBy, type TypeOf } from './marked-services.ts';
import type { Marks } from './marks.ts';

export function createHiding(core: CoreServices) {
  const typers = new WeakMap<CapabilityReport, TypeOf>();
  const known = new WeakMap<Marks, { readonly report: CapabilityReport; readonly hidden: Hidden }>();

  function typerOf(report: CapabilityReport): TypeOf {
    const typer = typers.get(report) ?? knownTyper(report, core);
    typers.set(report, typer);
    return typer;
  }

  return {
    typerOf,
    hiddenOf(
      node: { readonly report: CapabilityReport; readonly profile: NodeProfile },
      marks: Marks,
    ): Hidden {
      const last = known.get(marks);
      if (last?.report === node.report) return last.hidden;
      const hidden = hiddenBy(marks, node.profile, typerOf(node.report));
      known.set(marks, { report: node.report, hidden });
      return hidden;
    },
  };
}
