/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the completions of bash, zsh and fish take from the tables. Each function prints the lines
 * of one place of a template.
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
