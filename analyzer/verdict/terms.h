/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the conditions in verdict.def, advice.def, doubt.def and whatif.def: `e` are the
 * metrics, and `v` is the verdict as far as it is found.
 */
#ifndef STAGEPROF_ANALYZER_TERMS_H
#define STAGEPROF_ANALYZER_TERMS_H

#define V(metric) sp_metrics_value(e, SP_METRIC_##metric) /* 0 where it is not known */
#define KNOWN(metric) (e->of[SP_METRIC_##metric].is_known)
#define OR_ALL(metric) (KNOWN(metric) ? V(metric) : ALL)
#define ALL 1.0
#define ALWAYS true
#define NEVER false

#define IS(rule) (v->id == SP_VERDICT_##rule)
#define IS_STATE (sp_rule_of(v->id)->is_state)
#define HOLDS(rule) (v->holds[SP_VERDICT_##rule])
#define COSTS(metric) (sp_rule_of(v->id)->cost == SP_METRIC_##metric)

#endif
