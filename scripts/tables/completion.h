/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of the completions' templates, for bash, zsh and fish. Each function prints the lines
 * of one place.
 */
#ifndef STAGEPROF_TABLES_COMPLETION_H
#define STAGEPROF_TABLES_COMPLETION_H

void bash_values(void);
void bash_report_options(void);
void bash_settings(void);
void bash_views(void);
void bash_exporters(void);
void bash_commands(void);

void zsh_report_options(void);
void zsh_settings(void);
void zsh_views(void);
void zsh_exporters(void);
void zsh_commands(void);

void fish_report(void);
void fish_launcher(void);

#endif
